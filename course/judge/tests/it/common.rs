//! The checkout with its tasks, and the programs that are built with these tests.

#![expect(clippy::panic, clippy::print_stdout, reason = "a test says what went wrong, and what was not run")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use catalog::{parallel, provenance::target_of};
use judge::Request;
use tasks::{Catalogue, Task};
use tasks::{measure::Measure, task::Criterion};

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the `xtask` of the same build.
pub(crate) fn xtask() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("xtask"))
}

/// Returns the `teach` of the same build, which `xtask grade` starts.
pub(crate) fn teach() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("teach"))
}

/// Returns a program of the same build that starts `judge` and this compiler.
#[cfg(unix)]
pub(crate) fn program(path: &Path, compiler: &str) -> Command {
    let mut command = Command::new(path);
    command
        .env("TILE_COMPILER", compiler)
        .env("TILE_JUDGE", env!("CARGO_BIN_EXE_judge"))
        .env_remove("CARGO")
        .env_remove("CARGO_MANIFEST_DIR");
    if std::env::var_os("TILE_NVRTC").is_none() {
        command.env("TILE_NVRTC", root().join("target/nvrtc"));
    }
    command
}

pub(crate) fn read(file: impl AsRef<Path>) -> String {
    let path = root().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn ptx_of(source: impl AsRef<Path>) -> String {
    let path = target_of(root(), &root().join(source));
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; make it with: cargo xtask ptx", path.display()))
}

pub(crate) fn catalogues() -> Vec<Catalogue> {
    Catalogue::load_all(root()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns whether a first program ran; says why if there is no compiler.
pub(crate) fn has_run(probe: &std::process::Output) -> bool {
    let ran = probe.status.code() != Some(3);
    if !ran {
        println!("not run: {}", String::from_utf8_lossy(&probe.stderr).trim());
    }
    ran
}

/// Returns all tasks of all steps that have a kernel to write.
pub(crate) fn kernel_tasks() -> Vec<Task> {
    let tasks = catalogues().into_iter().flat_map(|catalogue| catalogue.tasks);
    tasks.filter(|task| task.host.is_none()).collect()
}

/// Returns a task for a step's kernel that requires nothing but a right result.
pub(crate) fn task_for(entry: &str, work: &str, tile: [u32; 2], threads: u32) -> Task {
    let text = format!(
        "[rebuild]\nsource = \"x\"\nentry = \"{entry}\"\nwork = \"{work}\"\ntile = {tile:?}\nblock = [{threads}, 1, 1]\nminutes = 1\n"
    );
    let catalogue = Catalogue::parse(&text, "v05", "tasks.toml").expect("a catalogue");
    catalogue.tasks.into_iter().next().expect("a task")
}

/// Returns a criterion that any value of the measure meets.
pub(crate) fn measuring(id: String, measure: Measure, shape: &[usize], bk: Option<usize>) -> Criterion {
    Criterion {
        id,
        what: String::new(),
        measure,
        at_most: Some(f64::INFINITY),
        at_least: None,
        shape: shape.to_vec(),
        bk,
        misses: String::new(),
    }
}

pub(crate) fn request<'a>(task: &'a Task, ptx: &'a str, sources: &'a [(String, String)]) -> Request<'a> {
    Request::new(task, ptx, sources)
}

/// Stops with all complaints about a list of items, which are looked for on all cores.
#[track_caller]
pub(crate) fn expect_no_complaint<T: Sync>(all: &[T], complaint: impl Fn(&T) -> Option<String> + Sync) {
    let found = parallel::run(all, usize::MAX, complaint, |_| true);
    let complaints: Vec<String> = found.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn built(package: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_judge")).parent().expect("a folder");
    let path = folder.join(package);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--package", package]).current_dir(root());
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command.status().expect("cargo is there");
    assert!(built.success() && path.is_file(), "{} is missing", path.display());
    path
}
