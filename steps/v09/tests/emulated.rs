//! The emulated GPU has no cuBLAS and no speed; both are stated in the output.

use std::process::{Command, Output};

fn v09(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_v09");
    Command::new(program).args(arguments).output().expect("the step starts")
}

#[test]
fn cublas_is_not_run() {
    let output = v09(&["bench", "--size", "64", "--emulate", "--json"]);
    let lines = String::from_utf8_lossy(&output.stdout);
    assert!(lines.contains(r#""not_run":{"why":"cuBLAS needs an NVIDIA GPU"}"#), "{lines}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_was_measured_on_a_real_gpu_stands_in_its_place() {
    let output = v09(&["bench", "--size", "64", "--emulate"]);
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("cublas_sgemm: not run: cuBLAS needs an NVIDIA GPU"), "{page}");
    let (_, recorded) = page.split_once("Recorded on a real GPU").expect("a table");
    for name in ["sgemm_v01_col_per_lane", "sgemm_v07_double_buffer", "cuBLAS"] {
        assert!(recorded.contains(name), "{page}");
    }
}

#[test]
fn there_is_no_roofline() {
    let output = v09(&["roofline", "--emulate"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("a roofline needs an NVIDIA GPU"), "{errors}");
    assert!(output.stdout.is_empty());
    assert_eq!(output.status.code(), Some(3));
}
