//! Every function that cudarc can load is there.

use cudarc::driver::sys;

use crate::common::emulator;

#[test]
fn emulated_every_call_that_cudarc_names_is_exported() {
    emulator();
    let list = include_str!("../../../driver/src/generated.rs");
    let names: Vec<&str> = list
        .split("name: \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(names.len() > 500);
    // SAFETY: looks addresses up, calls nothing.
    let library = unsafe { sys::culib() };
    // SAFETY: as above.
    let is_there = |name: &str| unsafe { library.get::<*const ()>(name.as_bytes()).is_ok() };
    let missing: Vec<_> = names.into_iter().filter(|name| !is_there(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn emulated_calls_that_are_not_there_say_so() {
    emulator();
    let mut graph = std::ptr::null_mut();
    // SAFETY: the arguments are not looked at.
    let code = unsafe { sys::cuGraphCreate(&mut graph, 0) };
    assert_eq!(code, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
}
