//! The commands for classes: their arguments. `teach` runs them, a program of its own, so that whoever measures or
//! learns does not wait until the grader is built.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command as Process;

use anyhow::{Context, Result};
use xtask_support::{CommandOutcome, interrupt};
use xtask_support::{output::Stop, programs};

/// The commands for classes.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Write a starter repository for a class
    ///
    /// It holds no solution; the rubric, next to it, holds the seed of the hidden tests
    Assign(Assign),
    /// Report the progress of a class, from its progress files
    Report(Report),
    /// Grade the submissions of a class
    ///
    /// Each is compiled and judged in a sandbox
    Grade(Grade),
}

/// `assign`
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask assign v02 v03 --out homework --title 'Tiles' --due 'Friday, noon'\n\n\
    Beside the folder goes a rubric with the seed of the hidden tests: homework.rubric.toml.")]
pub struct Assign {
    /// Tasks, such as `v02` or `v05.wide`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,
    /// Folder to create the repository in
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Title of the assignment
    #[arg(long, default_value = "Tile by Tile")]
    pub title: String,
    /// Due date, as text for the README
    #[arg(long)]
    pub due: Option<String>,
    /// Seed of the hidden tests; drawn at random when left out
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    pub seed: Option<u64>,
    /// For each step, assign the task whose numbers are drawn from the seed; its answer is not published
    #[arg(long)]
    pub variant: bool,
    /// Have the kernels written in Rust
    #[arg(long, conflicts_with_all = ["variant", "image", "gradescope"])]
    pub rust: bool,
    /// Accept only results from a real GPU: without one, `check` in the repository fails
    #[arg(long)]
    pub gpu_required: bool,
    /// Let codespaces and the workflow run in this container image, made with .devcontainer/Dockerfile
    #[arg(long, value_name = "NAME", conflicts_with = "gpu_required", value_parser = image)]
    pub image: Option<String>,
    /// Write OUT.gradescope.zip, too: an autograder for Gradescope
    #[arg(long, conflicts_with = "gpu_required")]
    pub gradescope: bool,
    /// Use the measured minutes of this file, from `report --minutes`, in place of the estimates
    #[arg(long, value_name = "FILE")]
    pub minutes: Option<PathBuf>,
}

/// The largest seed: every program that reads JSON or TOML keeps it.
pub const LARGEST_SEED: u64 = (1 << 53) - 1;

/// `report`
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask report submissions --minutes minutes.toml\n\n\
    Reads NAME/my/progress.toml or NAME/progress.toml of each student.")]
pub struct Report {
    /// Folder of submissions
    pub submissions: PathBuf,
    /// Write the measured minutes to this file, for `assign --minutes`
    #[arg(long, value_name = "FILE")]
    pub minutes: Option<PathBuf>,
    /// Print one JSON record per task
    #[arg(long)]
    pub json: bool,
}

/// `grade`
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask grade submissions --rubric rubric.toml --out grades\n\n\
    A submission is a folder named after its student, with v02.cu or my/v02.cu in it; where the\n\
    rubric has one task, also a single file. Results are kept: after an interrupt, the same\n\
    command grades what is left.\n\n\
    Exit codes: 0 all are graded, 1 somebody has to look at some, 2 wrong usage, 3 could not run.")]
pub struct Grade {
    /// Folder of submissions
    pub submissions: PathBuf,
    /// File with the tasks, questions, points, and the seed of the hidden tests
    #[arg(long, value_name = "FILE")]
    pub rubric: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Number of submissions to grade in parallel; one per core when left out
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Limit of processor time for compiling, and for judging; 20 s and 60 s when left out
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: Option<u64>,
    /// Grade without a sandbox: submissions can then read your files
    #[arg(long)]
    pub no_sandbox: bool,
    /// The list of the class, as CSV: id, and where there are, name, team, section, extension, submitted, aliases
    #[arg(long, value_name = "FILE")]
    pub roster: Option<PathBuf>,
    /// Points that you give, as TOML: a table for each student, with "v02.right" = 3
    #[arg(long, value_name = "FILE")]
    pub points: Option<PathBuf>,
    /// Folder of earlier submissions, to compare with
    #[arg(long, value_name = "DIR")]
    pub against: Vec<PathBuf>,
    /// Write the kernels to moss/ in the folder for the results, as MOSS takes them
    #[arg(long)]
    pub moss: bool,
    /// Write codes in place of names; DIR.codes.csv, beside the folder for the results, has both
    #[arg(long)]
    pub anonymous: bool,
    /// Grade only part I of N, counted from 0, and write no report
    #[arg(long, value_name = "I/N", value_parser = part)]
    pub part: Option<(usize, usize)>,
    /// Write a Slurm job array of this many parts, and grade nothing yet
    #[arg(long, value_name = "PARTS", conflicts_with_all = ["part", "json"], value_parser = parts)]
    pub slurm: Option<usize>,
    /// Print one JSON record per student
    #[arg(long)]
    pub json: bool,
}

/// Reads the name of an image, such as `ghcr.io/course/tile-by-tile:2026`.
fn image(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    let is_name = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part);
    if is_name { Ok(text.to_owned()) } else { Err("a name as ghcr.io/course/tile-by-tile:2026".into()) }
}

/// Reads `--part I/N`, such as `0/4`: the part, from 0, and the number of parts.
fn part(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('/').and_then(|(part, of)| {
        let (part, of) = (part.parse().ok()?, of.parse().ok()?);
        (part < of).then_some((part, of))
    });
    parsed.ok_or_else(|| "a part is I/N with I from 0 to N - 1, as in 0/4".into())
}

fn parts(text: &str) -> Result<usize, String> {
    const MAX_PARTS: usize = 10_000;
    let parts = text.parse().ok().filter(|parts| (1..=MAX_PARTS).contains(parts));
    parts.ok_or_else(|| format!("a job array has 1 to {MAX_PARTS} parts"))
}

pub(crate) fn run() -> Result<CommandOutcome> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let program = programs::find_program("teach")?;
    // The grading keeps its results at Ctrl-C, and its last words are to come before the next prompt.
    interrupt::watch();
    let status = interrupt::wait_for(&mut Process::new(program).args(words).spawn().context("starting teach")?)?;
    match status.code() {
        Some(0) => Ok(CommandOutcome::Passed),
        Some(code) => Err(Stop::Ended(u8::try_from(code).unwrap_or(u8::MAX)).into()),
        None => Err(anyhow::anyhow!("teach was killed by the system ({status})")),
    }
}
