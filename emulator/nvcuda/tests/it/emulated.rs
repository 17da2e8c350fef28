//! Features of the emulated device: reports, checks, names.

use std::io::Write;
use std::process::{Command, Stdio};

use cudarc::driver::sys::{self, CUresult::*};
use emulator_client::CheckLevel;

use crate::common::{
    DEPENDENT, OwnContext, alloc, calls, emulator, function, launch, load_ptx, made, module, ok, report, run,
    synchronize, words,
};

#[test]
fn emulated_the_library_tells_its_name() {
    assert!(emulator().version().starts_with("libnvcuda "));
}

#[test]
fn emulated_a_launch_leaves_a_report() {
    let emulator = emulator();
    let _own = OwnContext::new();
    let address = alloc(4 * 64);
    emulator.set_checks(Some(CheckLevel::Count));
    ok(launch(function(module(), "fill"), 2, 32, &[address, 64, 7]));
    let report = report(&emulator);
    assert_eq!(report["kernel"], "fill");
    assert_eq!(report["grid"], serde_json::json!([2, 1, 1]));
    assert_eq!(report["total"]["global_store_requests"], 2);
    assert_eq!(report["total"]["global_store_sectors"], 8);
    assert_eq!(report["checked"], false);
    emulator.set_checks(None);
}

#[test]
fn emulated_instructions_of_dependent_launches_are_counted() {
    let emulator = emulator();
    let _own = OwnContext::new();
    let address = alloc(4);
    calls! { sys::cuMemsetD32_v2(address, 0, 1) }
    ok(launch(function(load_ptx(DEPENDENT), "dependent"), 1, 1, &[address]));
    assert_eq!(report(&emulator)["total"]["warp_instructions"], 7);
    assert_eq!(words(address, 1), [1]);
}

#[test]
fn emulated_there_is_no_report_before_a_launch() {
    let emulator = emulator();
    let report = std::thread::spawn(move || emulator.report()).join().expect("it returns");
    assert_eq!(report, None);
}

#[test]
fn emulated_checks_can_be_switched_off() {
    let emulator = emulator();
    let _own = OwnContext::new();
    emulator.set_checks(Some(CheckLevel::Off));
    // The kernel reads uninitialised memory, which is not checked now.
    ok(run("increment", 32, &[alloc(128)]));
    emulator.set_checks(None);
}

#[test]
fn emulated_names_of_parameters_are_used() {
    let emulator = emulator();
    let _own = OwnContext::new();
    emulator.name_parameters(None, &["speeds", "n", "value"]);
    assert_eq!(run("fill", 32, &[alloc(32), 32, 7]), CUDA_ERROR_ILLEGAL_ADDRESS);
    let report = emulator.report().expect("there was a launch");
    assert!(report.contains("E-OOB") && report.contains("speeds"), "{report}");
}

/// Runs a test of this program in a process of its own, and returns its stdout and stderr.
pub(crate) fn run_alone(test: &str, environment: &[(&str, &str)]) -> (String, String) {
    let program = std::env::current_exe().expect("this test is a program");
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env("TILE_TEST_ALONE", "1")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stdout.contains("1 passed"), "no test is called {test}");
    (stdout, stderr)
}

pub(crate) fn is_alone() -> bool {
    std::env::var_os("TILE_TEST_ALONE").is_some()
}

#[test]
fn emulated_printing_appears_at_synchronisation() {
    if !is_alone() {
        let (out, _) = run_alone("emulated::emulated_printing_appears_at_synchronisation", &[]);
        let lines: Vec<_> = out.lines().filter(|l| l.contains("hello") || l.contains("before")).collect();
        assert_eq!(lines, ["before", "hello 0", "hello 1", "hello 2"]);
        return;
    }
    emulator();
    let _own = OwnContext::new();
    ok(launch(function(module(), "hello"), 1, 3, &[]));
    // The kernel has ended by now, or will have; its output waits.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let mut out = std::io::stdout().lock();
    out.write_all(b"\nbefore\n").and_then(|()| out.flush()).expect("stdout is there");
    drop(out);
    ok(synchronize());
}

#[test]
fn emulated_a_mistake_is_told_on_stderr_without_colours() {
    if !is_alone() {
        let (_, stderr) = run_alone("emulated::emulated_a_mistake_is_told_on_stderr_without_colours", &[]);
        assert!(stderr.contains("error[E-OOB]"), "{stderr}");
        assert!(!stderr.contains('\x1b'), "{stderr}");
        return;
    }
    let emulator = emulator();
    let _own = OwnContext::new();
    emulator.set_diagnosis(None);
    assert_eq!(run("poke", 1, &[0]), CUDA_ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn emulated_the_environment_chooses_checks_and_memory() {
    if !is_alone() {
        let environment = [("TILE_CHECK", "off"), ("TILE_MEMORY", "64"), ("TILE_BUDGET", "sideways")];
        let (_, stderr) = run_alone("emulated::emulated_the_environment_chooses_checks_and_memory", &environment);
        assert!(stderr.contains("TILE_BUDGET=sideways is not understood"), "{stderr}");
        return;
    }
    emulator();
    let _own = OwnContext::new();
    assert_eq!(made!(cuDeviceTotalMem_v2(0)), 64 << 20);
    ok(run("increment", 32, &[alloc(128)]));
}
