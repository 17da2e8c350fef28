//! `cargo xtask measure`: all that the book shows of a GPU, part by part, each by the command that measures it alone.
//!
//! Times belong together: what the record lacks since this day is measured. Sums, counters and the sanitizer's
//! verdicts depend on the code and the GPU only: what the records have of the code as it is stays. So the command goes
//! on where it was interrupted.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use catalog::provenance::sha256;
use catalog::{CatalogKernel, STEPS, Step};
use records::ceilings::Ceilings;
use records::profile::ProfileRecord;
use records::sanitizer::{SanitizerRecord, TOOLS};
use records::sums::SumsRecord;
use xtask_support::CommandOutcome;
use xtask_support::interrupt;
use xtask_support::output::{self, Stop};
use xtask_support::{paths, programs};

use crate::commands::measure::{calibrate, tools};

#[derive(clap::Args)]
#[command(
    after_help = "Examples: cargo xtask measure\n          timeout --signal=INT 570 cargo xtask measure\n          \
    cargo xtask measure times ceilings"
)]
pub(crate) struct Args {
    /// The day on which the sitting began, such as 2026-11-29; today when left out
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Parts, in any order; without any, those that are not on record
    #[arg(value_name = "PART")]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The best kernels and cuBLAS in long turns, with their energy
    Duels,
    /// Times of all kernels beside cuBLAS, or a copy
    Times,
    /// Times of the libraries of v11 and v12 on the shapes that a seed draws
    Drawn,
    /// The most that tensor cores do
    Ceilings,
    /// Checksums of C
    Sums,
    /// The counters of Nsight Compute
    Counters,
    /// The findings of compute-sanitizer
    Sanitizer,
    /// The costs of instructions, from which times are predicted
    Costs,
}

/// The parts in their order: what others leave as it is comes first.
const ALL: [Part; 8] = {
    use Part::{Ceilings, Costs, Counters, Drawn, Duels, Sanitizer, Sums, Times};
    [Sums, Counters, Sanitizer, Costs, Ceilings, Duels, Drawn, Times]
};

/// The kernels of long duels, by a part of their names: the fastest of a step, and those that chapters compare with
/// them. Of libraries on tensor cores there are short ones of all shapes, and of other kernels those after pauses.
const DUELS: [(&str, &str, &str); 8] = [
    ("v07", "sgemm_v07_double_buffer", "2048,4096,8192"),
    ("v11", "v11_gemm", "256,512,768,1000,1024,1280,1536,2048,3072,4096,6144,8192"),
    ("v12", "v12_gemm_e4m3", "2048,4096,8192"),
    ("v12", "v12_gemm_tf32", "2048,4096,8192"),
    ("v12", "v12_gemm_f32", "256,512,768,1000,1024,1280,1536,2048,3072,4096,6144,8192"),
    ("v12", "v12_gemm_bf16", "256,512,768,1000,1024,1280,1536,2048,3072,4096,6144,8192"),
    ("v12", "gemm_v12_ping_pong", "4096,8192"),
    ("v12", "gemm_v12_fp8", "4096"),
];

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    interrupt::watch();
    let folder = paths::record_folder("run it in a checkout")?;
    let root = paths::checkout().context("the records are in a checkout; run this inside it")?;
    let name = tools::device_name()
        .context("nvidia-smi finds no NVIDIA GPU here, so nothing was measured; what is missing: cargo xtask doctor")?;
    let today = catalog::time::utc(catalog::time::now());
    let since = args.since.clone().unwrap_or_else(|| catalog::text::day(&today).to_owned());
    let sitting = Sitting { folder, root, device: name, since };
    let parts = if args.parts.is_empty() { ALL.to_vec() } else { args.parts.clone() };
    let mut failed = Vec::new();
    for part in parts {
        let commands = sitting.commands(part, !args.parts.is_empty())?;
        for command in commands {
            if !run_part(command)? {
                failed.push(format!("{part:?}").to_lowercase());
            }
        }
    }
    failed.dedup();
    ensure!(failed.is_empty(), "not measured, or not as expected; see above: {}", failed.join(", "));
    output::note(&format!(
        "everything of {} is on record, in {}",
        sitting.device,
        paths::display_path(&sitting.folder)
    ));
    Ok(CommandOutcome::Passed)
}

/// Runs the command of a part; returns whether it succeeded.
fn run_part(mut command: Command) -> Result<bool> {
    output::command(&programs::command_line(&command, &[]));
    // A signal to the whole group, as of Ctrl-C or `timeout`, would reach the child twice: the second ends it at once.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let status = interrupt::wait_for(&mut command.stdin(Stdio::null()).spawn()?)?;
    if interrupt::happened() {
        let again = format!("go on with: {} measure", paths::command_name());
        return Err(Stop::Interrupted(format!("what was measured is saved; {again}")).into());
    }
    Ok(status.success())
}

/// One machine's records.
struct Sitting {
    folder: PathBuf,
    root: PathBuf,
    device: String,
    since: String,
}

impl Sitting {
    /// Returns the commands of a part; none for one that is on record, unless it is wanted all the same.
    fn commands(&self, part: Part, is_named: bool) -> Result<Vec<Command>> {
        let lacking = |command: &str, lacks: &dyn Fn(&Step) -> bool| {
            let steps = STEPS.iter().filter(|step| ours(step).count() > 0 && (is_named || lacks(step)));
            let mut words = vec![command];
            words.extend(steps.map(|step| step.id));
            if words.len() == 1 { Ok(Vec::new()) } else { Ok(vec![own(&[words.as_slice(), &["--save"]].concat())?]) }
        };
        match part {
            Part::Sums => {
                let known = load(SumsRecord::load(&self.file("-sums")))?;
                let has = |kernel: &str, code: &str| {
                    known.sums.iter().any(|sum| sum.kernel == kernel && sum.ptx_sha256 == code)
                };
                lacking("sums", &|step| self.lacks(step, &has))
            }
            Part::Counters => {
                let known = load(ProfileRecord::load(&self.file("-counters")))?;
                let has = |kernel: &str, code: &str| {
                    known.profiles.iter().any(|one| one.kernel == kernel && one.ptx_sha256 == code)
                };
                lacking("profile", &|step| self.lacks(step, &has))
            }
            Part::Sanitizer => {
                let known = load(SanitizerRecord::load(&self.file("-sanitizer")))?;
                let has = |step: &Step, tool: &str| {
                    let mut of = known.verdicts.iter().filter(|one| one.step == step.id && one.tool == tool);
                    of.any(|one| ours(step).all(|kernel| one.kernels.iter().any(|name| name == kernel.name)))
                };
                lacking("sanitize", &|step| !TOOLS.iter().all(|tool| has(step, tool)))
            }
            Part::Costs => {
                let file = self.root.join(calibrate::FOLDER).join(calibrate::file_name(&self.device));
                if is_named || !file.is_file() { Ok(vec![own(&["calibrate"])?]) } else { Ok(Vec::new()) }
            }
            Part::Ceilings => {
                let file = self.file("-ceilings");
                let known = std::fs::read_to_string(&file).ok();
                let known = known.and_then(|text| serde_json::from_str::<Ceilings>(&text).ok());
                if known.is_some_and(|known| known.run.date >= self.since) && !is_named {
                    return Ok(Vec::new());
                }
                // An example of a step, and no program of its own.
                let mut command = match paths::builder(&self.root) {
                    Some(cargo) => {
                        let mut command = Command::new(cargo);
                        command.args(["run", "--quiet", "--release", "--package=v12", "--example=ceilings", "--"]);
                        command
                    }
                    None => Command::new(programs::find_program("ceilings")?),
                };
                command.arg("--json").arg(file);
                Ok(vec![command])
            }
            Part::Duels => {
                let duels = DUELS
                    .map(|(step, kernel, sizes)| self.bench(&[step], &["--kernel", kernel, "--size", sizes, "--duel"]));
                duels.into_iter().collect()
            }
            Part::Drawn => {
                let of = |(step, library): (&'static str, &str)| {
                    let output = Command::new(programs::find_program(step)?).arg("shapes").output()?;
                    let shapes = String::from_utf8(output.stdout)?;
                    self.bench(&[step], &["--kernel", library, "--size", shapes.trim()])
                };
                [("v11", "v11_gemm"), ("v12", "v12_gemm_f32"), ("v12", "v12_gemm_bf16")].map(of).into_iter().collect()
            }
            Part::Times => {
                let with_code = STEPS.iter().rev().filter(|step| ours(step).count() > 0);
                let steps: Vec<&str> = with_code.map(|step| step.id).collect();
                Ok(vec![self.bench(&steps, &["--lang", "both"])?, self.bench(&["v09", "v00"], &[])?])
            }
        }
    }

    /// Returns the command that saves times of steps, but for those that are new enough.
    fn bench(&self, steps: &[&str], options: &[&str]) -> Result<Command> {
        let save = ["--save", "--since", self.since.as_str()];
        own(&[&["bench"], steps, options, &save].concat())
    }

    /// Returns whether a kernel of a step, with its present code, is not on record.
    fn lacks(&self, step: &Step, has: &dyn Fn(&str, &str) -> bool) -> bool {
        ours(step).any(|kernel| {
            let name = kernel.source.unwrap_or_default();
            let code = std::fs::read(self.root.join("kernels/ptx").join(name).with_extension("ptx"));
            code.is_ok_and(|code| !has(kernel.name, &sha256(&code)))
        })
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}.json", records::slug(&self.device)))
    }
}

/// Returns a command of this program.
fn own(words: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    Ok(command)
}

/// Returns the kernels of a step that have a source.
fn ours(step: &Step) -> impl Iterator<Item = &CatalogKernel> {
    step.kernels.iter().filter(|kernel| kernel.source.is_some())
}

/// Returns an empty record for a file that is not there yet.
fn load<T: Default>(loaded: Result<T, records::RecordError>) -> Result<T> {
    match loaded {
        Err(error) if error.is_missing() => Ok(T::default()),
        loaded => Ok(loaded?),
    }
}
