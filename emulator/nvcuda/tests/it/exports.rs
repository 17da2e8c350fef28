//! The library exports what a driver of CUDA 12.4 exports, and nothing newer.

use std::path::Path;
use std::process::Command;

use cudarc::driver::sys;

use crate::common::{calls, emulator};

fn is_exported(name: &str) -> bool {
    // SAFETY: looks an address up in a library that is loaded already, calls nothing.
    unsafe { sys::culib().get::<*const ()>(name.as_bytes()).is_ok() }
}

/// Returns the calls in the driver's sources, and whether a driver of CUDA 12.4 lacks them.
fn calls() -> std::io::Result<Vec<(String, bool)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../driver/src");
    let mut files = vec![folder.join("calls.rs")];
    for file in folder.join("api").read_dir()? {
        files.push(file?.path());
    }
    let mut calls = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)?;
        for block in text.split("\n}\n") {
            for line in block.lines() {
                // Definitions `fn cuInit 2000(…)`, and rows of the tables of stubs.
                let is_row = block.contains("\nstubs! {");
                let names = match line.strip_prefix("    fn ") {
                    Some(definition) => definition.split('(').next().unwrap_or_default(),
                    None if is_row => line,
                    None => continue,
                };
                let names = names.split([' ', ',', ';']).filter(|name| name.starts_with("cu"));
                calls.extend(names.map(|name| (name.to_owned(), block.contains("\nlater! {"))));
            }
        }
    }
    Ok(calls)
}

#[test]
fn emulated_exports_are_those_of_the_driver_that_it_stands_for() {
    emulator();
    let calls = calls().expect("the driver's sources");
    assert!(calls.len() > 550);
    let wrong: Vec<_> = calls.iter().filter(|(name, later)| is_exported(name) == *later).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Returns standard output of Cargo.
fn cargo(arguments: &[&str]) -> String {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("Cargo is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Reads cudarc's bindings of the driver API from Cargo's registry.
fn bindings() -> String {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    // Without a filter, Cargo requires the packages of all platforms.
    let metadata = cargo(&["metadata", "--format-version=1", "--offline", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("it is JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let cudarc = packages.iter().find(|package| package["name"] == "cudarc");
    let manifest = cudarc.and_then(|package| package["manifest_path"].as_str()).expect("a dependency");
    std::fs::read_to_string(Path::new(manifest).with_file_name("src/driver/sys/mod.rs")).expect("the bindings")
}

#[test]
fn emulated_what_cudarc_names_for_this_version_is_exported() {
    emulator();
    let bindings = bindings();
    // Calls are `pub unsafe fn NAME`, many with `#[cfg(…)]` for the versions of CUDA that have them.
    let lines: Vec<&str> = bindings.lines().map(str::trim).collect();
    let named: Vec<String> = lines
        .windows(2)
        .filter_map(|pair| {
            let name = pair[1].strip_prefix("pub unsafe fn cu")?.split(['(', '<']).next()?;
            let condition = pair[0].strip_prefix("#[cfg(");
            let wanted = condition.is_none_or(|text| text.contains("\"cuda-12040\""));
            wanted.then(|| format!("cu{name}"))
        })
        .collect();
    assert!(named.len() > 400, "cudarc's bindings have changed their form");
    let missing: Vec<_> = named.iter().filter(|name| !is_exported(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn emulated_the_library_answers_to_the_names_that_programs_open() {
    emulator();
    let names: &[&str] = if cfg!(windows) { &["nvcuda.dll", "nvcuda"] } else { &["libcuda.so.1", "libcuda.so"] };
    for name in names {
        // SAFETY: it is loaded already.
        let library = unsafe { libloading::Library::new(*name) }.expect(name);
        // SAFETY: only the address is taken.
        let ours = unsafe { library.get::<*const ()>(b"tile_version") };
        assert!(ours.is_ok(), "{name}");
    }
}

#[test]
fn emulated_calls_that_are_not_there_say_so() {
    emulator();
    calls! { sys::cuMemCreate(&mut 0, 0, std::ptr::null(), 0) => CUDA_ERROR_NOT_SUPPORTED }
}
