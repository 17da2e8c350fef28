//! The JIT linker, limits of registers, grids that synchronise, and launches of the old kind.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys::CUjitInputType::{CU_JIT_INPUT_LIBRARY as LIBRARY, CU_JIT_INPUT_PTX as PTX};
use cudarc::driver::sys::{self, CUfunction_attribute, CUjit_option, CUresult};

use crate::common::{ErrorLog, OwnContext, alloc, calls, function, launch, made, module, ok, synchronize, words};
use crate::emulated::{is_alone, run_alone};

const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// Stores `scale(i)` + `bias`, both of another input, and the module's own `f`.
const CALLER: &str = include_str!("ptx/caller.ptx");

const CALLEE: &str = include_str!("ptx/callee.ptx");

/// Each block adds 1 to a counter; after grid synchronisation, each stores the counter's value.
const MEETING: &str = include_str!("ptx/meeting.ptx");

type Input<'a> = (sys::CUjitInputType, &'a str, &'a CStr);

/// Links inputs and loads the result; or the first error, with the log.
fn link(inputs: &[Input<'_>]) -> Result<sys::CUmodule, (CUresult, String)> {
    let mut log = ErrorLog::new();
    let (mut link, mut image, mut size, mut loaded) = (null_mut(), null_mut(), 0, null_mut());
    // SAFETY: texts of the lengths given, and a log that outlives the link.
    let code = unsafe {
        ok(sys::cuLinkCreate_v2(2, log.options.as_mut_ptr(), log.values.as_mut_ptr(), &mut link));
        let mut added = inputs.iter().map(|(kind, text, name)| {
            let text = CString::new(*text).expect("PTX has no NUL");
            let (data, n) = (text.as_ptr().cast_mut().cast(), text.as_bytes_with_nul().len());
            sys::cuLinkAddData_v2(link, *kind, data, n, name.as_ptr(), 0, null_mut(), null_mut())
        });
        let failed = added.find(|code| *code != CUresult::CUDA_SUCCESS);
        let code = failed.unwrap_or_else(|| sys::cuLinkComplete(link, &mut image, &mut size));
        if code == CUresult::CUDA_SUCCESS {
            ok(sys::cuModuleLoadData(&mut loaded, image));
        }
        ok(sys::cuLinkDestroy(link));
        code
    };
    match code {
        CUresult::CUDA_SUCCESS => Ok(loaded),
        code => Err((code, log.text())),
    }
}

fn ptx(text: &str) -> String {
    format!("{HEAD}{text}")
}

#[test]
fn inputs_find_what_others_define() {
    let _own = OwnContext::new();
    let (caller, callee) = (ptx(CALLER), ptx(CALLEE));
    let loaded = link(&[(PTX, &caller, c"caller"), (PTX, &callee, c"callee")]).expect("they belong together");
    let out = alloc(4 * 4);
    ok(launch(function(loaded, "k"), 1, 4, &[out]));
    assert_eq!(words(out, 4), [1100, 1103, 1106, 1109]);
}

#[test]
fn emulated_what_no_input_defines_is_named() {
    let _own = OwnContext::new();
    let caller = ptx(&CALLER.replace(".extern .global .u32 bias", ".global .u32 bias"));
    let (code, _) = link(&[(PTX, &ptx(".entry k() { frobnicate; }"), c"bad")]).expect_err("no PTX");
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_PTX);
    // Codes and messages are those of an H200's driver.
    let check = |inputs: &[Input<'_>], message: &str| {
        let (code, log) = link(inputs).expect_err(message);
        assert_eq!(code, CUresult::CUDA_ERROR_INVALID_SOURCE, "{log}");
        assert!(log.contains(message), "{log}");
    };
    check(&[(PTX, &caller, c"caller")], "error   : Undefined reference to 'scale' in 'caller'");
    let callee = ptx(CALLEE);
    check(
        &[(PTX, &callee, c"one"), (PTX, &callee, c"two")],
        "Multiple definition of 'bias' in 'two', first defined in 'one'",
    );
    let (caller, callee) = (ptx(CALLER), ptx(&CALLEE.replace("scale(", "scale(.param .b32 more, ")));
    check(
        &[(PTX, &caller, c"caller"), (PTX, &callee, c"callee")],
        "Prototype doesn't match for 'scale' in 'callee', first defined in 'callee'",
    );
}

#[test]
fn emulated_inputs_share_a_bound() {
    if !is_alone() {
        run_alone("linker::emulated_inputs_share_a_bound", &[("TILE_MEMORY", "64")]);
        return;
    }
    let _own = OwnContext::new();
    let kernel = |name: &str| ptx(&format!(".visible .entry {name}() {{ {} }}", "ret;".repeat(80_000)));
    let (a, b) = (kernel("a"), kernel("b"));
    assert!(link(&[(PTX, &a, c"a")]).is_ok());
    let (code, log) = link(&[(PTX, &a, c"a"), (PTX, &b, c"b")]).expect_err("it is too much");
    assert_eq!(code, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(log.contains("the inputs are too large"), "{log}");
}

fn meet() -> sys::CUfunction {
    let meeting = ptx(MEETING);
    let inputs = [(PTX, meeting.as_str(), c"meeting"), (LIBRARY, "!<arch>", c"libcudadevrt.a")];
    function(link(&inputs).expect("it links"), "meet")
}

#[test]
fn emulated_a_cooperative_grid_meets() {
    let _own = OwnContext::new();
    let meet = meet();
    let (mut out, mut counter) = (alloc(16 * 4), alloc(4));
    let mut arguments = [(&raw mut out).cast::<c_void>(), (&raw mut counter).cast()];
    // SAFETY: the arguments are what the kernel takes.
    unsafe {
        ok(sys::cuMemsetD8_v2(counter, 0, 4));
        let null = null_mut();
        ok(sys::cuLaunchCooperativeKernel(meet, 16, 1, 1, 1, 1, 1, 0, null, arguments.as_mut_ptr()));
    }
    ok(synchronize());
    assert_eq!(words(out, 16), [16; 16]);
}

#[test]
fn emulated_a_grid_that_is_not_cooperative_cannot_meet() {
    let _own = OwnContext::new();
    let (out, counter) = (alloc(16 * 4), alloc(4));
    ok(launch(meet(), 16, 1, &[out, counter]));
    assert_ne!(synchronize(), CUresult::CUDA_SUCCESS);
}

#[test]
fn a_limit_of_registers_is_kept() {
    let _own = OwnContext::new();
    let text = CString::new(crate::common::KERNELS).expect("PTX has no NUL");
    let mut options = [CUjit_option::CU_JIT_MAX_REGISTERS];
    let mut values = [std::ptr::without_provenance_mut(16)];
    let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    let loaded = made!(cuModuleLoadDataEx(text.as_ptr().cast(), 1, options.as_mut_ptr(), values.as_mut_ptr()));
    let registers = made!(cuFuncGetAttribute(which, function(loaded, "variables")));
    assert!((1..=16).contains(&registers), "{registers}");
}

/// Calls a function that the bindings do not have.
macro_rules! first_form {
    ($name:ident($($value:expr),*) as ($($ty:ty),*)) => {{
        type Signature = extern "C" fn($($ty),*) -> CUresult;
        // SAFETY: the call has this signature in the first versions of CUDA.
        let call = unsafe { sys::culib().get::<Signature>(concat!(stringify!($name), "\0").as_bytes()) };
        call.expect(stringify!($name))($($value),*)
    }};
}

#[test]
fn first_forms_work_in_no_context() {
    let _own = OwnContext::new();
    let (mut address, mut free, mut total, mut context) = (0u32, 0u32, 0u32, 0usize);
    let code = first_form!(cuMemAlloc(&mut address, 1024) as (&mut u32, u32));
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    let code = first_form!(cuMemGetInfo(&mut free, &mut total) as (&mut u32, &mut u32));
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    let code = first_form!(cuCtxCreate(&mut context, 0, 0) as (&mut usize, u32, i32));
    assert_eq!(code, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert_eq!(first_form!(cuCtxDestroy(0) as (usize)), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok(first_form!(cuDeviceTotalMem(&mut total, 0) as (&mut u32, i32)));
    assert_eq!(total, u32::MAX);
}

#[test]
fn a_launch_of_the_old_kind_needs_no_arguments() {
    let own = OwnContext::new();
    let fill = function(module(), "fill");
    // The defaults of an H200: a block of one thread, and arguments that are all 0.
    calls! {
        sys::cuLaunchGrid(fill, 1, 1),
        sys::cuFuncSetBlockShape(fill, 32, 1, 1),
        sys::cuLaunchGrid(fill, 1, 1),
    }
    drop(own);
}

#[test]
fn launches_of_the_old_kind() {
    let _own = OwnContext::new();
    let fill = function(module(), "fill");
    let out = alloc(64 * 4);
    let address = out.to_ne_bytes();
    calls! {
        sys::cuFuncSetBlockShape(fill, 32, 1, 1),
        sys::cuFuncSetSharedSize(fill, 0),
        sys::cuParamSetSize(fill, 16),
        sys::cuParamSetv(fill, 0, address.as_ptr().cast_mut().cast(), 8),
        sys::cuParamSeti(fill, 8, 64),
        sys::cuParamSeti(fill, 12, 7),
        sys::cuLaunchGrid(fill, 2, 1),
        sys::cuFuncSetBlockShape(fill, 0, 1, 1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuParamSeti(fill, -4, 1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuParamSeti(fill, 1 << 20, 1) => CUDA_ERROR_INVALID_VALUE,
    }
    assert_eq!(words(out, 64), [7; 64]);
}
