//! The command line as its users see it: what goes where, and the exit codes.
//!
//! The steps are played by a shell script beside a copy of `xtask`, as in a folder of copied programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use catalog::provenance::sha256;
use catalog::{STEPS, Shape, Step};
use counters::Counters;
use records::Run;
use records::record::{Check, FailedCheck, Line, Measurement, Outcome, Record, VerifiedRun};
use records::sums::{self, Sum};

use crate::files::{copy_xtask, empty_folder, program, spawn, started_by};

/// `$FAKE` names what the step prints with `--json`; `$FAKE_CODE` is how it ends.
const STEP: &str = include_str!("../data/step.sh");

/// Plays Cargo: what is asked for lies beside it.
const CARGO: &str = include_str!("../data/cargo.sh");

/// Returns a folder with `xtask` and its steps, made once: nothing may be started while programs are written.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = empty_folder("cli/programs");
        copy_xtask(&folder);
        program(&folder.join("cargo"), CARGO);
        let ((gpu, on_gpu), (emulated, on_emulated)) = (gpu(), emulated());
        for step in STEPS {
            let path = folder.join(step.id);
            program(&path, STEP);
            let write = |name: &str, kind: &str, text: String| {
                fs::write(folder.join(format!("{name}.{}.{kind}.jsonl", step.id)), text).expect("a file");
            };
            let lines = |device: &Run, line: &dyn Fn(String) -> Line| {
                let kernels = step.kernels.iter().map(|kernel| line(kernel.name.into()));
                std::iter::once(Line::Run(Box::new(device.clone()))).chain(kernels).map(|line| json(&line)).collect()
            };
            let bench = |name: &str, device: &Run, outcome: Outcome| {
                let measurement = |kernel| Measurement {
                    run: device.id.clone(),
                    step: step.id.into(),
                    kernel,
                    shape: Shape::square(1024),
                    seed: 1,
                    ptx_sha256: String::new(),
                    outcome: outcome.clone(),
                };
                write(name, "bench", lines(device, &|kernel| Line::Measurement(Box::new(measurement(kernel)))));
            };
            let check = |name: &str, n_passed: usize, not_run: Option<&str>, failed: Option<FailedCheck>| {
                let (run, not_run) = (&emulated, not_run.map(str::to_owned));
                let line = |kernel| {
                    let (run, step) = (run.id.clone(), step.id.into());
                    let (not_run, failed) = (not_run.clone(), failed.clone());
                    Line::Check(Box::new(Check { run, step, kernel, n_passed, not_run, failed }))
                };
                write(name, "check", lines(run, &line));
            };
            let passed = |run: &VerifiedRun| Outcome::Passed(Box::new(run.clone()));
            bench("gpu", &gpu, passed(&on_gpu));
            bench("emulated", &emulated, passed(&on_emulated));
            bench("slow", &gpu, passed(&on_gpu));
            bench("wrong", &gpu, wrong());
            write("garbage", "bench", "{\"this\": \"is no record\"}\n".into());
            check("right", 15, None, None);
            check("wrong", 15, None, Some(failed_check()));
            check("absent", 0, Some("cuBLAS needs an NVIDIA GPU"), None);
            check("partly", 15, Some("the strip of K = 9000 does not fit"), None);
            write("garbage", "check", "no JSON\n".into());
            write("gpu", "sums", summed(step, &gpu));
            write("emulated", "sums", summed(step, &emulated));
        }
        folder
    })
}

/// Sums of the kernels of a step on two shapes, the second of which needs something.
fn summed(step: &Step, device: &Run) -> String {
    let mut text = json(&Line::Run(Box::new(device.clone())));
    for kernel in step.kernels {
        let sum = |size: usize| Sum {
            run: device.id.clone(),
            step: step.id.into(),
            kernel: kernel.name.into(),
            shape: Shape::square(size),
            seed: 1,
            multiprocessors: 4,
            ptx_sha256: String::new(),
            c_sha256: sha256(kernel.name.as_bytes()),
            cublas_sha256: (!device.emulated).then(|| sha256(b"sgemm_v05_bank_conflict_free")),
            not_run: None,
        };
        text.push_str(&json(&Line::Sum(Box::new(sum(64)))));
        let not_run = Some("it needs rows that start on 16 bytes".into());
        text.push_str(&json(&Line::Sum(Box::new(Sum { not_run, ..sum(65) }))));
    }
    text
}

fn json(line: &Line) -> String {
    format!("{}\n", serde_json::to_string(line).expect("plain data"))
}

/// Returns a GPU, and a verified run of a kernel on it.
fn gpu() -> (Run, VerifiedRun) {
    serde_json::from_str(include_str!("../data/gpu.json")).expect("a run")
}

/// Returns the emulated device, and a verified run of a kernel on it.
fn emulated() -> (Run, VerifiedRun) {
    let text = include_str!("../data/emulated.json");
    let (device, mut run): (Run, VerifiedRun) = serde_json::from_str(text).expect("a run");
    run.counters = Some(Counters {
        warp_instructions: 100_000_000,
        shared_store_wavefronts_merged: 1_000_000,
        shared_store_ideal_merged: 900_000,
        ..both()
    });
    let machine_code = run.machine_code.as_mut().expect("a prediction");
    machine_code.counters = Some(Counters { warp_instructions: 40_000_000, tensor_products: 1_073_741_824, ..both() });
    (device, run)
}

/// Returns counters that are the same for PTX and machine code.
fn both() -> Counters {
    Counters {
        fmas: 1_073_741_824,
        global_load_sectors: 9_000_000,
        global_store_sectors: 131_072,
        l1_passes: 5_000_000,
        shared_load_wavefronts_merged: 17_000_000,
        shared_load_ideal_merged: 17_000_000,
        ..Counters::default()
    }
}

fn failed_check() -> FailedCheck {
    FailedCheck {
        shape: Shape { m: 7, n: 5, k: 3 },
        why: "C[3][4] is 1.5, expected 2.5".into(),
        details: "wrong tiles:\n  x.\n  ..".into(),
    }
}

fn wrong() -> Outcome {
    let FailedCheck { why, details, .. } = failed_check();
    Outcome::Failed { why, details }
}

/// Makes a folder that `xtask` takes for a checkout.
fn checkout(name: &str) -> PathBuf {
    let folder = empty_folder(&format!("cli/{name}"));
    for inside in ["xtask", "kernels/ptx", "book/data"] {
        fs::create_dir_all(folder.join(inside)).expect("a folder");
    }
    fs::write(folder.join("xtask/Cargo.toml"), "").expect("a file");
    folder
}

fn xtask(words: &str) -> Command {
    let mut command = bare(&programs().join("xtask"));
    command.args(words.split_whitespace());
    command
}

/// Returns a command outside of checkouts, without the variables of Cargo and of these tests.
fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(std::env::temp_dir()).stdin(Stdio::null());
    for name in ["CARGO", "CARGO_MANIFEST_DIR", "LD_LIBRARY_PATH", "FAKE"] {
        command.env_remove(name);
    }
    command
}

/// Returns the exit code and both streams, without what differs from machine to machine.
fn output_text(output: &Output) -> String {
    let clean = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&programs().display().to_string(), "PROGRAMS");
        // Paths are shown from where it runs, and the checkout may lie in there.
        match programs().strip_prefix(std::env::temp_dir()) {
            Ok(from_here) => text.replace(&from_here.display().to_string(), "PROGRAMS"),
            Err(_) => text,
        }
    };
    format!(
        "exit code {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap_or(-1),
        clean(&output.stdout),
        clean(&output.stderr)
    )
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let here = command.get_current_dir().map(|folder| folder.display().to_string());
    let text = output_text(&command.output().expect("it starts"));
    text.replace(&here.unwrap_or_default(), "HERE")
}

/// Returns the errors of a command that ends with this code and has no output.
#[track_caller]
fn errors(code: i32, command: &mut Command) -> String {
    let text = run(command);
    let errors = text.strip_prefix(&format!("exit code {code}\n--- stdout\n--- stderr\n"));
    errors.unwrap_or_else(|| panic!("{text}")).trim_end().to_owned()
}

#[track_caller]
fn refused(words: &str) -> String {
    errors(2, &mut xtask(words))
}

#[test]
fn bad_words_are_answered_in_a_sentence() {
    // Each row of the file: an exit code, a command and its answer.
    for row in include_str!("../data/refused.txt").lines() {
        let [code, words, answer] = row.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            panic!("three columns: {row}")
        };
        let code = code.parse().expect("an exit code");
        assert_eq!(errors(code, &mut xtask(words)), answer, "{words}");
    }
    for (words, wanted) in [
        (
            "--size 64,many",
            "invalid value 'many' for '--size <SIZE>': `many` is not a whole number from 1 to 2147483647; sizes look like 1024",
        ),
        ("--m 5 --n 6 --k -1", "invalid value '-1' for '--k <K>': `-1` is not a whole number from 1 to 2147483647"),
        ("--size 64 --k 8", "cannot be used with"),
    ] {
        for command in ["bench", "profile"] {
            let error = refused(&format!("{command} v05 {words}"));
            assert!(error.contains(wanted), "{command} {words}: {error}");
        }
    }
}

#[test]
fn one_step_speaks_for_itself() {
    insta::assert_snapshot!(run(&mut xtask("bench 5 --size 512,1024 --emulate")));
}

#[test]
fn the_exit_code_of_a_step_is_ours() {
    for (code, ours) in [("0", 0), ("1", 1), ("2", 2), ("3", 3), ("77", 3)] {
        let output = xtask("bench v05").env("FAKE_CODE", code).output().expect("it starts");
        assert_eq!(output.status.code(), Some(ours), "{}", output_text(&output));
    }
}

#[test]
fn several_steps_share_a_table() {
    insta::assert_snapshot!(run(xtask("bench v05 bank-conflict-free 7").env("FAKE", "gpu")));
    insta::assert_snapshot!(run(xtask("bench v05 v06 --emulate").env("FAKE", "emulated")));
}

#[test]
fn tensor_cores_are_counted_by_their_own_products() {
    insta::assert_snapshot!(run(xtask("bench v05 v10 --emulate").env("FAKE", "emulated")));
}

#[test]
fn steps_share_answers_in_a_folder_that_no_printed_command_has() {
    let output = xtask("bench v05 v06").env("FAKE", "sharing").output().expect("it starts");
    let errors = output_text(&output);
    let (commands, others): (Vec<_>, Vec<_>) = errors.lines().partition(|line| line.starts_with("$ "));
    assert!(commands.iter().all(|command| !command.contains("answers")), "{errors}");
    let shared = others.iter().filter(|line| line.contains("could not run: answers in /"));
    assert_eq!(shared.count(), 2, "{errors}");
}

#[test]
fn a_check_is_a_line_per_kernel() {
    insta::assert_snapshot!(run(xtask("check 5 float4 v05").env("FAKE", "right")));
    insta::assert_snapshot!(run(xtask("check v05 v06").env("FAKE", "wrong").env("FAKE_CODE", "1")));
    insta::assert_snapshot!(run(xtask("check v09").env("FAKE", "absent").env("FAKE_CODE", "3")));
    insta::assert_snapshot!(run(xtask("check v04").env("FAKE", "partly")));
    insta::assert_snapshot!(run(xtask("check v05").env("FAKE", "silent").env("FAKE_CODE", "3")));
    insta::assert_snapshot!(run(xtask("check v05").env("FAKE", "garbage")));
}

#[test]
fn check_takes_all_steps_when_none_is_named() {
    let output = xtask("check").env("FAKE", "right").output().expect("it starts");
    let n_kernels = STEPS.iter().map(|step| step.kernels.len()).sum::<usize>();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), n_kernels);
}

#[test]
fn json_is_what_the_steps_print() {
    for (words, fake) in
        [("bench v05 v06 --json", "gpu"), ("check v05 v06 --json", "right"), ("bench v05 --json", "gpu")]
    {
        let output = xtask(words).env("FAKE", fake).output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.lines().count() >= 2, "{words}");
        for line in text.lines() {
            serde_json::from_str::<Line>(line).expect("a line of a record");
        }
    }
}

#[test]
fn saving_merges_into_the_record_of_the_machine() {
    let root = checkout("save");
    insta::assert_snapshot!(run(xtask("bench v05 v06 --save").env("FAKE", "gpu").current_dir(&root)));
    let path = root.join("book/data/test-100.json");
    let first = Record::load(&path).expect("a record");
    assert_eq!((first.runs.len(), first.measurements.len()), (1, 2));
    run(xtask("bench v07 --save").env("FAKE", "gpu").current_dir(&root));
    let second = Record::load(&path).expect("a record");
    assert_eq!((second.runs.len(), second.measurements.len()), (1, 3));
    let files: Vec<_> = fs::read_dir(root.join("book/data")).expect("a folder").collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn sums_are_saved_and_then_compared_bit_by_bit() {
    let root = checkout("sums");
    insta::assert_snapshot!(run(xtask("sums v05 v06 --save").env("FAKE", "gpu").current_dir(&root)));
    let data = root.join("book/data");
    let text = fs::read_to_string(data.join("test-100-sums.json")).expect("a record");
    fs::write(data.join(sums::REFERENCES[0]), &text).expect("a file");
    insta::assert_snapshot!(run(xtask("sums v05 v07 --emulate").env("FAKE", "emulated").current_dir(&root)));
    let digits = sha256(b"sgemm_v05_bank_conflict_free");
    let changed = text.replacen(&format!("\"c_sha256\":\"{digits}"), &format!("\"c_sha256\":\"f{}", &digits[1..]), 1);
    assert_ne!(text, changed);
    fs::write(data.join(sums::REFERENCES[0]), changed).expect("a file");
    insta::assert_snapshot!(run(xtask("sums v05 --emulate").env("FAKE", "emulated").current_dir(&root)));
}

#[test]
fn sums_of_another_machine_become_a_record() {
    let root = checkout("sums-from");
    let lines = xtask("sums v05 v06 --json").env("FAKE", "gpu").output().expect("it starts");
    fs::write(root.join("sums.jsonl"), lines.stdout).expect("a file");
    insta::assert_snapshot!(run(xtask("sums --from sums.jsonl --save").current_dir(&root)));
    let record = sums::SumsRecord::load(&root.join("book/data/test-100-sums.json")).expect("a record");
    assert_eq!((record.runs.len(), record.sums.len()), (1, 2));
    fs::write(root.join("sums.jsonl"), "no JSON\n").expect("a file");
    insta::assert_snapshot!(errors(3, xtask("sums --from sums.jsonl").current_dir(&root)), @"error: sums.jsonl:1 is not a record of a step: expected value at line 1 column 1");
}

#[test]
fn sums_that_could_not_run_or_be_saved_say_why() {
    insta::assert_snapshot!(run(xtask("sums v05").env("FAKE", "none").env("FAKE_CODE", "3")));
    insta::assert_snapshot!(run(xtask("sums v05").env("FAKE", "emulated").env("FAKE_CODE", "1")));
    insta::assert_snapshot!(errors(3, &mut xtask("sums v05 --save")), @"error: --save keeps records in book/data of a checkout, and this folder is not one; try: xtask sums --json > sums.jsonl");
    insta::assert_snapshot!(refused("sums v00"), @"error: v00 has no kernels in kernels/");
}

#[test]
fn without_a_gpu_the_commands_of_tools_are_printed() {
    if ["/dev/nvidiactl", "/dev/dxg"].iter().any(|path| Path::new(path).exists()) {
        return eprintln!("skipped: this machine has a GPU, and would start the tools");
    }
    insta::assert_snapshot!(run(&mut xtask("profile v05 --size 509x503x499")));
    insta::assert_snapshot!(run(&mut xtask("sanitize bank-conflict-free")));
}

#[test]
fn several_processes_save_at_once() {
    let root = checkout("save-at-once");
    let steps = ["v05", "v06", "v07"];
    let children = steps.map(|step| {
        xtask(&format!("bench {step} --save"))
            .env("FAKE", "gpu")
            .current_dir(&root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts")
    });
    for mut child in children {
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
    }
    let record = Record::load(&root.join("book/data/test-100.json")).expect("a record");
    assert_eq!(record.measurements.len(), steps.len());
}

#[test]
fn what_cannot_be_saved_is_not_measured() {
    let root = checkout("no-data");
    fs::remove_dir_all(root.join("book")).expect("a folder");
    insta::assert_snapshot!(errors(3, xtask("bench v05 --save").env("FAKE", "gpu").current_dir(&root)), @"error: book/data cannot be written to (No such file or directory (os error 2)), so nothing was measured; try: xtask bench all --json > records.jsonl");
}

#[test]
fn a_record_that_cannot_be_read_is_kept() {
    let root = checkout("broken-record");
    let path = root.join("book/data/test-100.json");
    fs::write(&path, "half a rec").expect("a file");
    insta::assert_snapshot!(run(xtask("bench v05 --save").env("FAKE", "gpu").current_dir(&root)));
    assert_eq!(fs::read_to_string(&path).expect("a file"), "half a rec");
    Record::load(&path.with_extension("new.json")).expect("a record");
}

/// Interrupts a command, or what `target` makes of its number, once it has measured something; returns its messages.
fn interrupted(command: &mut Command, target: fn(i32) -> i32) -> String {
    let mut child = spawn(command.env("FAKE", "slow"));
    let mut errors = std::io::BufReader::new(child.stderr.take().expect("piped"));
    let mut seen = String::new();
    // The first measurement has arrived once it is told.
    while !seen.contains("ms\n") {
        let n = std::io::BufRead::read_line(&mut errors, &mut seen).expect("text");
        assert!(n > 0, "it ended before it measured: {seen}");
    }
    // SAFETY: our own child or its group, which has not been waited for.
    unsafe { libc::kill(target(child.id().cast_signed()), libc::SIGINT) };
    std::io::Read::read_to_string(&mut errors, &mut seen).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{seen}");
    seen
}

#[test]
fn an_interrupt_leaves_a_whole_record() {
    let root = checkout("interrupt");
    let seen = interrupted(xtask("bench v05 v06 --save").current_dir(&root), |child| child);
    let last = seen.lines().last().unwrap_or_default();
    assert_eq!(last, "interrupted; 1 measurement is saved in book/data/test-100.json");
    let record = Record::load(&root.join("book/data/test-100.json")).expect("a whole record");
    assert_eq!(record.measurements.len(), 1);
}

#[test]
fn a_sitting_that_is_interrupted_keeps_what_was_measured() {
    let root = checkout("sitting");
    program(&root.join("nvidia-smi"), "#!/bin/sh\necho NVIDIA Test 100\n");
    let path = format!("{}:{}", root.display(), std::env::var("PATH").expect("a path"));
    let mut command = xtask("measure times");
    // A group of its own, all of which gets the signal, as by Ctrl-C.
    std::os::unix::process::CommandExt::process_group(command.env("PATH", path).current_dir(&root), 0);
    let seen = interrupted(&mut command, |group| -group);
    assert!(seen.ends_with("what was measured is saved; go on with: xtask measure\n"), "{seen}");
    let record = Record::load(&root.join("book/data/test-100.json")).expect("a whole record");
    assert!(!record.measurements.is_empty());
}

#[test]
fn a_closed_pipe_is_no_error() {
    for (words, fake) in [("list", ""), ("bench v05 v06 --json", "gpu"), ("check v05", "right")] {
        let mut child = spawn(xtask(words).env("FAKE", fake));
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{words}: {}", output_text(&output));
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    }
}

#[test]
fn a_folder_without_a_step_says_so() {
    let folder = empty_folder("cli/alone");
    fs::hard_link(programs().join("xtask"), folder.join("xtask")).expect("a link");
    let output = bare(&folder.join("xtask")).args(["bench", "v05"]).output().expect("it starts");
    let text = output_text(&output).replace(&folder.display().to_string(), "FOLDER");
    insta::assert_snapshot!(text, @r"
    exit code 3
    --- stdout
    --- stderr
    error: no program for v05 in FOLDER: copy it there, or run `cargo xtask` in a checkout
    ");
}

/// Returns a checkout with one step, whose kernel is compiled, and `xtask` as Cargo starts it there.
fn in_checkout(name: &str, words: &str) -> (PathBuf, Command) {
    let root = checkout(name);
    let source = "__global__ void k() {}\n";
    let hash = sha256(source.as_bytes());
    let ptx = format!(
        "// Generated\n// source: kernels/v05_bank_conflict_free.cu sha256:{hash}\n.version 8.4\n.entry k() {{\n}}\n"
    );
    fs::create_dir_all(root.join("steps/v05")).expect("a folder");
    fs::write(root.join("steps/v05/Cargo.toml"), "").expect("a file");
    fs::write(root.join("kernels/v05_bank_conflict_free.cu"), source).expect("a file");
    fs::write(root.join("kernels/ptx/v05_bank_conflict_free.ptx"), ptx).expect("a file");
    let mut command = xtask(words);
    command
        .current_dir(&root)
        .env("CARGO", programs().join("cargo"))
        .env("CARGO_MANIFEST_DIR", root.join("xtask"))
        // Where no compiler is.
        .env("TILE_NVRTC", "nowhere");
    (root, command)
}

/// Output of a step that Cargo builds first.
const BUILT: &str =
    "exit code 0\n--- stdout\nthe page of v05 bench\n--- stderr\n$ cargo build -q -p v05\n$ PROGRAMS/v05 bench\n";

#[test]
fn cargo_builds_what_runs() {
    let (_, mut command) = in_checkout("build", "bench v05");
    assert_eq!(run(&mut command), BUILT);
    insta::assert_snapshot!(run(command.env("FAKE_BUILD", "fails")));
}

#[test]
fn an_edited_kernel_needs_the_compiler() {
    let (root, mut command) = in_checkout("edited", "check v05");
    fs::write(root.join("kernels/v05_bank_conflict_free.cu"), "__global__ void other() {}\n").expect("a file");
    insta::assert_snapshot!(run(&mut command));
}

/// `xtask` and a step as `cargo build` leaves them in a checkout, started without `cargo run`.
fn started_directly(name: &str, words: &str) -> (PathBuf, Command) {
    let (root, command) = in_checkout(name, words);
    let folder = root.join("target/debug");
    fs::create_dir_all(&folder).expect("a folder");
    for program in ["xtask", "v05"] {
        fs::hard_link(programs().join(program), folder.join(program)).expect("a link");
    }
    let mut direct = bare(&folder.join("xtask"));
    direct.args(command.get_args()).current_dir(&root).env("TILE_NVRTC", "nowhere");
    (root, direct)
}

#[test]
fn a_program_in_the_target_folder_is_built_again_before_it_runs() {
    let (_, mut command) = started_directly("direct", "bench v05");
    let path = std::env::join_paths([programs(), Path::new("/usr/bin"), Path::new("/bin")]).expect("folders");
    assert_eq!(run(command.env("PATH", path)), BUILT);
}

/// Returns the command in a file system in which its working directory cannot be written; none where that cannot be
/// made.
fn in_read_only(command: &Command) -> Option<Command> {
    let here = command.get_current_dir().expect("it is set");
    let mounted = |words: &str| {
        let mut command = Command::new("unshare");
        let mount = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && "#;
        command.args(["--mount", "sh", "-c", &format!("{mount}{words}")]);
        command.arg(here).current_dir(here);
        command
    };
    if !mounted("true").output().is_ok_and(|output| output.status.success()) {
        eprintln!("not run: only the superuser can make a checkout read-only");
        return None;
    }
    Some(started_by(mounted("exec \"$@\""), command))
}

#[test]
fn what_was_built_runs_in_a_checkout_that_cannot_be_written() {
    let (_, mut command) = started_directly("read-only", "bench v05");
    let path = std::env::join_paths([programs(), Path::new("/usr/bin"), Path::new("/bin")]).expect("folders");
    command.env("PATH", path);
    if let Some(mut inside) = in_read_only(&command) {
        insta::assert_snapshot!(run(&mut inside));
    }
}

#[test]
fn an_edited_kernel_without_cargo_is_an_error_and_beside_copied_programs_a_remark() {
    let (root, mut command) = started_directly("direct-edited", "check v05");
    let edited = "__global__ void other() {}\n";
    fs::write(root.join("kernels/v05_bank_conflict_free.cu"), edited).expect("a file");
    insta::assert_snapshot!(errors(3, command.env("PATH", "/usr/bin:/bin")), @"error: kernels/v05_bank_conflict_free.cu changed since it was compiled, and cargo, which builds it in, is not on the PATH; install Rust, then run: cargo xtask check");
    let mut copied = xtask("check v05");
    copied.current_dir(&root).env("PATH", "/usr/bin:/bin").env("FAKE", "right");
    insta::assert_snapshot!(run(&mut copied));
}

#[test]
fn a_damaged_ptx_file_is_named() {
    let (root, mut command) = in_checkout("damaged", "bench v05");
    let path = root.join("kernels/ptx/v05_bank_conflict_free.ptx");
    let whole = fs::read(&path).expect("a file");
    fs::write(&path, &whole[..whole.len() - 3]).expect("a file");
    insta::assert_snapshot!(errors(3, &mut command), @"error: kernels/ptx/v05_bank_conflict_free.ptx is damaged (its braces do not match: the file seems to be cut off); get it back with: git checkout kernels/ptx/v05_bank_conflict_free.ptx");
    fs::write(&path, [0xff; 100]).expect("a file");
    insta::assert_snapshot!(errors(3, &mut command), @"error: kernels/ptx/v05_bank_conflict_free.ptx is damaged (it is not text); get it back with: git checkout kernels/ptx/v05_bank_conflict_free.ptx");
    fs::write(root.join("kernels/v01_other.cu"), "").expect("a file");
    fs::remove_file(root.join("kernels/v05_bank_conflict_free.cu")).expect("a file");
    insta::assert_snapshot!(errors(3, &mut command), @"error: kernels/v05_bank_conflict_free.cu is missing; get it back with: git checkout kernels/v05_bank_conflict_free.cu");
}

#[test]
fn a_step_without_a_program_is_named() {
    let (_, mut command) = in_checkout("unwritten", "bench v09");
    insta::assert_snapshot!(errors(3, &mut command), @"error: there is no program for v09 yet: steps/v09 is missing");
}

#[test]
fn what_cannot_be_saved_in_its_place_is_saved_elsewhere() {
    let root = checkout("elsewhere");
    let temporary = empty_folder("cli/temporary");
    for name in ["test-100.json", "test-100.new.json"] {
        fs::create_dir_all(root.join("book/data").join(name)).expect("a folder");
    }
    let mut command = xtask("bench v05 --save");
    command.env("FAKE", "gpu").env("TMPDIR", &temporary).current_dir(&root);
    insta::assert_snapshot!(run(&mut command).replace(&temporary.display().to_string(), "TEMPORARY"));
    let record = Record::load(&temporary.join("test-100.new.json")).expect("a record");
    assert_eq!(record.measurements.len(), 1);
}
