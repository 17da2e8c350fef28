//! Decodes whole modules.

use super::*;

/// Checks and decodes PTX text, as loading does; variables lie one window apart.
fn decoded(text: &str) -> Result<Program> {
    let module = ::ptx::parse(text).expect("the test's PTX parses");
    ::ptx::table::check(&module)?;
    let mut symbols = Symbols::new();
    for (at, variable) in module_variables(&module, &Account::default())?.iter().enumerate() {
        symbols.insert(&variable.name, (at as u64 + 1) << 40);
    }
    decode(&module, &symbols, CpuLevel::Baseline, &Account::default())
}

/// Returns a kernel around a few lines, with registers of every kind.
fn kernel_of(lines: &str) -> String {
    format!(include_str!("tests/kernel.ptx"), lines = lines)
}

#[track_caller]
fn refused(lines: &str, message: &str) {
    match decoded(&kernel_of(lines)) {
        Err(e) => assert_eq!(e.to_string(), message),
        Ok(_) => panic!("decoded: {lines}"),
    }
}

/// Returns PTX with the expected message.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().map(|row| row.split_once(" => ").expect("an arrow"))
}

#[test]
fn what_is_refused_is_named_with_its_line() {
    rows(include_str!("refused.txt")).for_each(|(lines, message)| refused(lines, message));
    // Instructions that the table refuses are never decoded, not even as `Nop`.
    refused(
        "createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;\ntcgen05.fence::before_thread_sync;",
        "line 17: `createpolicy.fractional.L2::evict_last.b64` (cache policies are not emulated yet) is not supported\n\
         line 18: `tcgen05.fence::before_thread_sync` (tensor-core instructions are not emulated yet) is not \
         supported",
    );
}

#[test]
fn functions_are_defined_once() {
    for (first, second) in [(".entry k()", ".entry k()"), (".func k()", ".func k()"), (".weak .func k()", ".entry k()")]
    {
        let module = |second: &str| {
            format!(".version 8.4\n.target sm_90\n.address_size 64\n.extern .func k();\n{first} {{ ret; }}\n{second}\n")
        };
        let error = decoded(&module(&format!("{second} {{ ret; }}"))).expect_err("defined twice");
        assert_eq!(error.to_string().split_once(": ").expect("a place").1, "`k` is defined twice");
        decoded(&module(&format!("{first};"))).expect("declared again");
    }
}

/// Shared arrays keep the banks that they would have without guards, and fault in between.
#[test]
fn shared_layout() {
    let kernel = &decoded(&kernel_of("mov.u64 %rd1, dynamic;")).expect("decodes").kernels[0];
    let places: Vec<_> = kernel.shared.iter().map(|a| (a.name.as_str(), a.offset, a.bytes)).collect();
    assert_eq!(places, [("first", 1024, 40), ("second", 1192, 128), ("dynamic", 1456, 0)]);
    assert_eq!((kernel.shared_static_bytes, kernel.shared_dynamic_base), (176, 1456));
}

/// Returns the launches for which something holds: `none`, `all`, or `if` pointers (parameters by offset) may alias.
fn described(launches: &program::Launches) -> String {
    use program::{Launches, Pointer};
    let name = |p: &Pointer| match p {
        Pointer::Param(offset) => format!("{offset}"),
        Pointer::Window(_) => "variable".to_owned(),
    };
    match launches {
        Launches::None => "none".to_owned(),
        Launches::All => "all".to_owned(),
        Launches::IfAliased(pairs) => {
            pairs.iter().fold("if".to_owned(), |text, (a, b)| format!("{text} {}={}", name(a), name(b)))
        }
    }
}

/// Checks the launches whose blocks run in index order.
#[track_caller]
fn check_order(lines: &str, expected: &str) {
    let got = described(&decoded(&kernel_of(lines)).expect("decodes").kernels[0].by_index);
    assert_eq!(got, expected, "{lines}");
}

#[test]
fn launches_whose_threads_load_what_others_store() {
    for (load, expected) in [
        ("ld.global.u32 %r2, [%rd1]", "none"),
        ("ld.global.u32 %r2, [%rd1+4]", "all"),
        ("ld.global.u32 %r2, [%rd2]", "if 8=0"),
        ("ld.volatile.global.u32 %r2, [%rd1+4]", "none"),
        ("ld.shared.u32 %r2, [first]", "none"),
        ("ld.shared.u32 %r1, [first]; mad.wide.u32 %rd1, %r1, 4, %rd1; ld.global.u32 %r2, [%rd1]", "all"),
        ("ld.global.u64 %rd4, [%rd1]; ld.global.u32 %r2, [%rd4]", "none"),
    ] {
        let lines = format!(
            "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [pack]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; \
             add.u64 %rd1, %rd1, %rd3; {load}; st.global.u32 [%rd1], %r2;"
        );
        let got = described(&decoded(&kernel_of(&lines)).expect("decodes").kernels[0].exchanges);
        assert_eq!(got, expected, "{load}");
    }
}

/// Blocks run in parallel unless the order could show.
#[test]
fn order_of_blocks() {
    check_order("atom.global.add.u32 %r1, [%rd1], 1;", "none");
    check_order("atom.global.add.u32 %r1, [%rd1], 1; st.global.u32 [%rd2], %r1;", "all");
    check_order("red.global.max.s32 [%rd1], %r1;", "none");
    check_order("red.global.add.f32 [%rd1], %f1;", "all");
    check_order("red.shared.add.f32 [first], %f1;", "none");
    check_order("atom.global.exch.b32 _, [%rd1], 1;", "all");
    check_order("ld.volatile.shared.u32 %r1, [first];", "none");
    check_order("ld.acquire.gpu.global.u32 %r1, [%rd1];", "all");
    check_order("st.volatile.global.u32 [%rd1], %r1;", "all");
    check_order("st.volatile.shared.u32 [first], %r1;", "none");
    check_order("membar.gl;", "none");
    check_order("membar.gl; red.global.add.u32 [%rd1], 1;", "all");
}

/// Atomics of one kernel that could meet on one word must commute with each other, too.
#[test]
fn order_among_atomics() {
    for (one, other, expected) in [
        ("add.u32", "add.s32", "none"),
        ("add.u32", "add.u64", "all"),
        ("and.b32", "and.b64", "none"),
        ("and.b32", "or.b32", "all"),
        ("xor.b32", "or.b32", "all"),
        ("min.s32", "min.s32", "none"),
        ("min.s32", "min.u32", "all"),
        ("min.u32", "min.u64", "all"),
        ("min.s32", "max.s32", "all"),
        ("add.u32", "min.u32", "all"),
        ("inc.u32", "dec.u32", "all"),
        ("inc.u32", "inc.u32", "none"),
    ] {
        let operand = |form: &str| if form.ends_with("64") { "%rd5" } else { "7" };
        let (x, y) = (operand(one), operand(other));
        check_order(&format!("red.global.{one} [%rd1], {x}; red.global.{other} [%rd1], {y};"), expected);
    }
    check_order("red.global.inc.u32 [%rd1], 7; red.global.inc.u32 [%rd1], 8;", "all");
    check_order("mov.u32 %r1, %tid.x; red.global.inc.u32 [%rd1], %r1;", "all");
    check_order("ld.param.u32 %r1, [pack]; red.global.inc.u32 [%rd1], %r1;", "none");
}

/// Atomics on different words never meet.
#[test]
fn order_of_atomics_on_different_words() {
    const LOADED: &str = "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [pack];
        cvta.to.global.u64 %rd3, %rd1; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd3, %rd4;";
    for (lines, expected) in rows(include_str!("orders.txt")) {
        check_order(&format!("{LOADED} {lines}"), expected);
    }
}
