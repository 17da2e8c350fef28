//! The library exports what a driver of CUDA 12.4 exports, and nothing newer.

use cudarc::driver::sys;

use crate::common::emulator;

/// Rows of the driver's table: the symbol, and whether it is newer than that driver.
fn calls() -> Vec<(&'static str, bool)> {
    let table = include_str!("../../../driver/src/calls.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| Some((row.split(' ').next()?, row.ends_with(" later"))))
        .collect()
}

/// Symbols of the table that are found though they must not be, or the other way round.
fn wrong(library: &libloading::Library) -> Vec<&'static str> {
    // SAFETY: looks an address up, calls nothing.
    let is_there = |name: &str| unsafe { library.get::<*const ()>(name.as_bytes()).is_ok() };
    let calls = calls().into_iter();
    calls
        .filter(|(name, later)| is_there(name) == *later)
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn emulated_exports_are_those_of_the_driver_that_it_stands_for() {
    emulator();
    assert!(calls().len() > 550);
    // SAFETY: it is loaded already.
    assert_eq!(wrong(unsafe { sys::culib() }), Vec::<&str>::new());
}

#[test]
fn emulated_the_library_answers_to_the_names_that_programs_open() {
    emulator();
    for name in ["libcuda.so.1", "libcuda.so"] {
        // SAFETY: it is loaded already.
        let library = unsafe { libloading::Library::new(name) }.expect(name);
        // SAFETY: only the address is taken.
        let ours = unsafe { library.get::<*const ()>(b"tile_version") };
        assert!(ours.is_ok(), "{name}");
    }
}

#[test]
fn emulated_calls_that_are_not_there_say_so() {
    emulator();
    let mut graph = std::ptr::null_mut();
    // SAFETY: the arguments are not looked at.
    let code = unsafe { sys::cuGraphCreate(&mut graph, 0) };
    assert_eq!(code, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
}
