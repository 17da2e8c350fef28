//! `judge`: judges one kernel by the criteria of one task, and prints one verdict.

#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use catalog::process::Exit;

use catalog::{Shape, files::FileError};
use clap::Parser;
use judge::{Request, shapes::ShapeSet};
use tasks::Task;

/// Judge the PTX of one kernel against a task
#[derive(Parser)]
#[command(name = "judge", version)]
#[command(after_help = "Example: judge --task task.json --ptx my/v05.ptx --source my/v05.cu\n\n\
    Prints a verdict as JSON. Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 could not run.")]
struct Cli {
    /// The task, as JSON
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// The compiled kernel; for a host task, the finished kernel
    #[arg(long, value_name = "FILE", required_unless_present = "answer")]
    ptx: Option<PathBuf>,
    /// The learner's file, for a host task
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,
    /// Sources, for messages: the learner's, and what it includes
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also judge on shapes that are drawn from the seed
    #[arg(long)]
    hidden: bool,
    /// Launch once and print the counters of each source line, without judging
    #[arg(long, conflicts_with = "hidden")]
    explain: bool,
    /// Edited kernels, as JSON: print the indices of those that look right, without judging
    #[arg(long, value_name = "FILE", conflicts_with_all = ["hidden", "explain"])]
    tries: Option<PathBuf>,
    /// Its machine code: print the counters of its instructions and the predicted time, too
    #[arg(long, value_name = "FILE", requires = "explain")]
    cubin: Option<PathBuf>,
    /// Size of the problem that the machine code is launched on: 512 (M = N = K), 256x512x64 (MxNxK) or, for a
    /// transpose, 300x200 (MxN)
    #[arg(long, value_name = "SIZE", default_value = "512", requires = "cubin", allow_negative_numbers = true)]
    size: Shape,
    /// Threads; 0 for one per core
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(why) => {
            eprintln!("error: {why}");
            Exit::CouldNot.into()
        }
    }
}

type Result<T> = std::result::Result<T, judge::JudgeError>;

fn run(cli: &Cli) -> Result<Exit> {
    let task: Task = serde_json::from_str(&read(&cli.task)?)
        .map_err(|error| format!("{} is not a task: {error}", cli.task.display()))?;
    let ptx = cli.ptx.as_deref().map(read).transpose()?.unwrap_or_default();
    let sources = cli.source.iter().map(|path| Ok((path.display().to_string(), read(path)?)));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let shapes = if cli.hidden { ShapeSet::WithHidden } else { ShapeSet::Public };
    let request = Request {
        task: &task,
        ptx: &ptx,
        setup: None,
        sources: &sources,
        seed: cli.seed,
        shapes,
        threads: cli.threads,
        max_instructions: u64::MAX,
    };
    if cli.explain {
        let mut explained = judge::explain::explain(&request)?;
        if let Some(path) = &cli.cubin {
            let bytes = std::fs::read(path).map_err(FileError::at(path))?;
            let code = sass::Module::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            let machine_code = judge::explain::code::explain(&request, &code, cli.size)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            explained.machine = Some(machine_code);
        }
        print(&explained)?;
        return Ok(Exit::Passed);
    }
    if let Some(path) = &cli.tries {
        let tries = serde_json::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        print(&judge::tries::promising(&request, &tries))?;
        return Ok(Exit::Passed);
    }
    let mut verdict = match (&task.host, &cli.answer) {
        (Some(host), Some(answer)) => judge::host::judge(&request, &host.call, &read(answer)?)?,
        (Some(_), None) => return Err("--answer is missing: this task is for the host".into()),
        (None, _) => judge::judge(&request),
    };
    if task.gpu_required {
        judge::real::add(&request, &mut verdict, harness::Gpu::real());
    }
    print(&verdict)?;
    Ok(match verdict.status {
        tasks::verdict::Status::Passed => Exit::Passed,
        _ => Exit::Failed,
    })
}

/// Prints one line of JSON. A closed pipe is not an error.
fn print(answer: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string(answer)?;
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}").into()),
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(FileError::at(path))?;
    Ok(String::from_utf8(bytes).map_err(|_| format!("{} is not text", path.display()))?)
}
