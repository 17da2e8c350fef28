//! `profile` and `sanitize` from a folder of copied programs, where there is no GPU: they say what to run elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::files::{copy_xtask, empty_folder, streams};

/// Returns a folder with `xtask` and something called `v05`, which is not started here. Made once: nothing may be
/// started while programs are written.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = empty_folder("profile");
        copy_xtask(&folder);
        fs::write(folder.join("v05"), "").expect("a file");
        folder
    })
}

/// Checks the exit code, and what standard output and standard error hold.
#[track_caller]
fn check(words: &str, code: i32, stdout: &[&str], stderr: &str) {
    let mut command = Command::new(folder().join("xtask"));
    command.args(words.split(' ')).env_remove("CARGO").env_remove("CARGO_MANIFEST_DIR");
    // Outside of the checkout.
    command.current_dir(std::env::temp_dir());
    let (ended, out, err) = streams(&command.output().expect("xtask starts"));
    assert_eq!(ended, code, "{words}\n{out}{err}");
    for part in stdout {
        assert!(out.contains(part), "{words}: no `{part}` in\n{out}");
    }
    assert!(err.contains(stderr), "{words}: no `{stderr}` in\n{err}");
}

/// Returns whether this machine would start the tools.
fn has_gpu() -> bool {
    let found = ["/dev/nvidiactl", "/dev/dxg"].iter().any(|path| Path::new(path).exists());
    if found {
        eprintln!("skipped: this machine has a GPU");
    }
    found
}

#[test]
fn without_a_gpu_the_commands_are_printed() {
    if has_gpu() {
        return;
    }
    check(
        "profile v05 --size 509x503x499",
        3,
        &[
            "ncu --clock-control none --kernel-name 'regex:^(sgemm_v05_bank_conflict_free)$' --metrics ",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "v05 launch --size 509x503x499\n",
            "nsys profile --trace=cuda --stats=true --output=v05 ",
        ],
        "error: this machine has no NVIDIA GPU, so nothing was profiled",
    );
    check(
        "sanitize bank-conflict-free",
        3,
        &[
            "compute-sanitizer --tool memcheck",
            "--tool racecheck",
            "--tool initcheck",
            "--tool synccheck",
            "v05 check\n",
        ],
        "error: this machine has no NVIDIA GPU, so nothing was checked",
    );
}

#[test]
fn what_makes_no_sense_is_said() {
    check("profile v99", 2, &[], "there is no step `v99`");
    check("profile", 2, &[], "which step?");
    check("profile v05 --size 0", 2, &[], "`0` is not a whole number from 1 to 2147483647; sizes look like 1024");
    check("profile v05 v08 --size 30x20", 2, &[], "`30x20` is a size of a transpose, and v05 multiplies matrices");
    check("profile v09", 2, &[], "v09 has no kernels in kernels/");
    check(
        "profile v05 --table",
        3,
        &[],
        "--table writes kernels/counters.json of a checkout, and this folder is not in one",
    );
    check("sanitize v00", 2, &[], "v00 has no kernels in kernels/");
}

#[test]
fn what_cannot_be_kept_is_not_measured() {
    check("profile v05 --save", 3, &[], "book/data of a checkout, and this folder is not one");
    check("sanitize v05 --save", 3, &[], "book/data of a checkout, and this folder is not one");
    check("profile --table", 3, &[], "kernels/counters.json of a checkout, and this folder is not in one");
}
