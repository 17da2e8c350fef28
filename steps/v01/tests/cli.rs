//! The command line that all steps share, tested on v01: exit codes, messages, and the report of a broken kernel.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use records::Outcome;
use records::record::Line;

const PTX: &str = include_str!("../../../kernels/ptx/v01_col_per_lane.ptx");

fn v01() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_v01"));
    command.env("TILE_DEVICE", "emulated").env_remove("TILE_CHECK");
    command.stdin(Stdio::null());
    command
}

/// Runs a command that ends with this code, and returns what it prints to standard output and standard error.
#[track_caller]
fn run(command: &mut Command, code: i32) -> (String, String) {
    let output = command.output().expect("the step starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (out, errors) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}{errors}");
    (out, errors)
}

/// A file with edited PTX, removed when the test is over.
struct Changed(PathBuf);

impl Changed {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("v01-{}-{name}.ptx", std::process::id()));
        std::fs::write(&path, text).expect("a folder to write to");
        Self(path)
    }

    /// Returns the kernel with every `from` replaced by `to`.
    fn replaced(name: &str, from: &str, to: &str) -> Self {
        assert!(PTX.contains(from), "the PTX has no {from}");
        Self::new(name, &PTX.replace(from, to))
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, message: &str) {
    let (out, errors) = run(v01().args(arguments), code);
    assert!(errors.contains(message), "{errors}");
    assert_eq!(out, "", "nothing is printed before the sizes are known to be possible");
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    for task in ["bench", "launch"] {
        for (sizes, message) in [
            ("--size 0", "`0` is not a whole number from 1 to 2147483647; sizes look like 1024"),
            ("--size=-1", "`-1` is not a whole number from 1 to 2147483647; sizes look like 1024"),
            ("--size -1", "`-1` is not a whole number from 1 to 2147483647; sizes look like 1024"),
            ("--size many", "`many` is not a whole number from 1 to 2147483647; sizes look like 1024"),
            ("--size 64,", "a size is missing; sizes look like 1024"),
            ("--size 64 --size 64x64", "`64x64` is a size of a transpose, and v01 multiplies matrices"),
            ("--size 99999999", "A would have 99999999 x 99999999 elements"),
            ("--size 50000x50000x1", "C would have 50000 x 50000 elements"),
            ("--m 50000 --n 50000 --k 1", "C would have 50000 x 50000 elements"),
            ("--m 64 --n 64 --k 0", "`0` is not a whole number from 1 to 2147483647"),
            ("--m 64 --n 64", "--m, --n and --k go together, and --k is missing"),
            ("--size 64 --k 8", "cannot be used with"),
        ] {
            let words: Vec<&str> = [task].into_iter().chain(sizes.split(' ')).collect();
            refused(&words, 2, message);
        }
    }
    refused(&["bench", "--size", "64", "--recorded-shapes"], 2, "cannot be used with");
    refused(&["bench", "--kernel", "v07"], 2, "v01 has no kernel `v07`; it has sgemm_v01_row_per_lane");
    refused(&[], 2, "Usage: v01");
}

#[test]
fn a_size_that_does_not_fit_on_the_device_is_refused() {
    let (out, errors) = run(v01().env("TILE_MEMORY", "100").args(["bench", "--size", "4096"]), 2);
    assert_eq!(out, "", "{errors}");
    let message = "a product of 4096x4096x4096 needs 201 MB on the device, which has ";
    assert!(errors.contains(message), "{errors}");
}

#[test]
fn several_sizes_are_measured_in_the_order_given() {
    let (out, _) =
        run(v01().args(["launch", "--kernel", "sgemm_v01_col", "--size", "8,33x20x5", "--size", "8"]), 0);
    assert_eq!(
        out,
        "sgemm_v01_col_per_lane on 8x8x8: launched\nsgemm_v01_col_per_lane on 33x20x5: launched\n"
    );
}

#[test]
fn a_device_that_there_is_not_is_told() {
    let (_, errors) = run(v01().env("TILE_DEVICE", "imaginary").arg("check"), 2);
    assert!(errors.contains("TILE_DEVICE=imaginary is not understood; use emulated or real"), "{errors}");
}

#[test]
fn records_are_lines_of_json_with_the_run_first() {
    let (out, _) = run(v01().args(["bench", "--json", "--m", "33", "--n", "20", "--k", "5"]), 0);
    let lines: Vec<Line> =
        out.lines().map(|line| serde_json::from_str(line).expect("a line of a record")).collect();
    let Line::Run(run) = &lines[0] else {
        panic!("the first line is the run");
    };
    assert!(run.emulated && run.device.starts_with("Emulated GPU"));
    assert_eq!(lines.len(), 5, "four kernels");
    for line in &lines[1..] {
        let Line::Measurement(measurement) = line else {
            panic!("the others are measurements");
        };
        assert_eq!((&measurement.run, measurement.shape.m), (&run.id, 33));
        let Outcome::Passed(passed) = &measurement.outcome else {
            panic!("{measurement:?}");
        };
        assert_eq!((passed.grid, passed.block), ([1, 2, 1], [1024, 1, 1]));
        let counters = passed.counters.as_ref().expect("the emulated device counts");
        assert_eq!(counters.fmas, 33 * 20 * 5);
        assert!(passed.hot.is_none(), "it has no speed");
    }
}

#[test]
fn the_page_tells_what_was_counted() {
    let (out, _) = run(v01().args(["bench", "--size", "96", "--kernel", "sgemm"]), 0);
    #[rustfmt::skip]
    const PARTS: [&str; 7] = [
        "v01 naive", "MxNxK = 96x96x96", "sgemm_v01_row_per_lane", "right", "sgemm_v01_row_per_lane  L1 ",
        "v01_col_per_lane.cu:", "next: cargo xtask check v01",
    ];
    for part in PARTS {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    assert!(!out.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn all_kernels_pass_their_check() {
    let (out, _) = run(v01().arg("check"), 0);
    assert_eq!(out.matches(": passed: 15 shapes, all checks clean\n").count(), 4, "{out}");
}

#[test]
fn a_product_of_the_wrong_matrices_is_recognised() {
    let name = "sgemm_v01_col_per_lane_param_";
    let file = Changed::replaced("a_twice", &format!("{name}4];"), &format!("{name}3];"));
    let (out, _) = run(v01().args(["bench", "--size", "64", "--kernel", "sgemm", "--ptx"]).arg(&file.0), 1);
    assert!(out.contains("WRONG") && out.contains("A is read where B belongs"), "{out}");
}

#[test]
fn a_missing_guard_is_found_by_the_check_and_the_next_kernel_still_runs() {
    // The first kernel of the file is the FP32 one; the other keeps its guard.
    let file = Changed::new("unguarded", &PTX.replacen("@%p3 bra", "//", 1));
    let (out, _) = run(v01().args(["check", "--ptx"]).arg(&file.0), 1);
    assert!(out.contains("sgemm_v01_col_per_lane: failed on 1x1x1: "), "{out}");
    assert!(out.contains("error[E-OOB]") && out.contains("v01_col_per_lane.cu:29:16"), "{out}");
    assert!(out.contains("dgemm_v01_col_per_lane: passed"), "{out}");
}

#[test]
fn a_kernel_that_does_not_end_is_stopped() {
    // The loop over k counts down to zero; now it never gets there.
    let file =
        Changed::replaced("endless", "setp.ne.s32 \t%p8, %r33, 0;", "setp.ne.s32 \t%p8, %r33, 1000000;");
    let (out, _) = run(v01().args(["check", "--kernel", "sgemm", "--ptx"]).arg(&file.0), 1);
    assert!(out.contains("failed on"), "{out}");
}

#[test]
fn ptx_that_is_none_is_refused_with_its_line() {
    let file = Changed::replaced("corrupt", "fma.rn.f32", "fma.rm.nonsense");
    let (_, errors) = run(v01().args(["bench", "--size", "8", "--kernel", "sgemm", "--ptx"]).arg(&file.0), 3);
    assert!(errors.contains("the driver does not take the PTX of sgemm_v01_col_per_lane"), "{errors}");
    assert!(errors.contains("fma.rm.nonsense"), "{errors}");

    let empty = Changed::new("empty", "");
    let nul = Changed::new("nul", &PTX.replacen("ret;", "ret;\0", 1));
    for (path, message) in [
        (empty.0.as_path(), "has none of the kernels of v01"),
        (nul.0.as_path(), "this is not PTX: it has a NUL in it"),
        (Path::new("no/such/file.ptx"), "no/such/file.ptx: "),
    ] {
        let (_, errors) = run(v01().args(["bench", "--ptx"]).arg(path), 3);
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = v01()
        .args(["bench", "--size", "64"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the step starts");
    // The reader goes before a word is written.
    drop(child.stdout.take());
    let mut errors = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut errors).expect("text");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
}
