//! `cargo xtask tune`: measures what products cost with each plan of a step, by which its library chooses.

mod search;

use std::path::Path;

use anyhow::{Context, Result, bail};
use catalog::{Shape, Step};
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Stop};
use xtask_support::{kernels, paths, step_args};

/// Steps whose libraries choose plans, and the libraries' names. Under `steps/ID/data`: `costs.json`, and `samples.tsv`
/// with all times to which the costs were fitted.
const LIBRARIES: [(&str, &str); 2] = [("v11", "v11_gemm"), ("v12", "v12_gemm")];
/// The step that has plans to search, and the file with the fastest.
const SEARCHED: &str = "v11";
const FOUND: &str = "steps/v11/data/found.json";

#[derive(clap::Args)]
#[command(
    after_help = "Examples: cargo xtask tune v12\n          cargo xtask tune v12 tf32 e4m3 --new\n          cargo xtask tune v12 bf16 --size 1280\n          cargo xtask tune v11 --search --seconds 120"
)]
pub(crate) struct Args {
    /// The step: `v11` or `v12`
    step: String,
    /// Types of A and B to measure, of v12's: `bf16`, `tf32`, `e4m3`; all without any
    #[arg(value_name = "TYPE", conflicts_with = "search")]
    types: Vec<String>,
    /// Measure only kernels that have no times on record, of v12's; changed kernels have some
    #[arg(long, conflicts_with = "search")]
    new: bool,
    /// Predict the times of v12's plans for these sizes, for which no GPU is needed, instead of measuring
    #[arg(long, value_name = "SIZE", value_delimiter = ',', conflicts_with_all = ["search", "new"])]
    size: Vec<Shape>,
    /// Search all possible plans of v11 instead of measuring those in use
    #[arg(long)]
    search: bool,
    /// Time for compiling and predicting plans, the most promising first
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "search")]
    seconds: u64,
    /// Number of plans to verify, and to time on a GPU, for each class of shapes
    #[arg(long, value_name = "N", default_value_t = 8, requires = "search")]
    most: usize,
    /// Save the predictions in book/data
    #[arg(long, requires = "search")]
    save: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let steps = step_args::steps("tune", std::slice::from_ref(&args.step))?;
    let me = paths::command_name();
    let [step] = steps.as_slice() else { bail!(Stop::Usage(format!("one step at a time: {me} tune v12"))) };
    let Some(library @ (id, _)) = LIBRARIES.into_iter().find(|(id, _)| *id == step.id) else {
        bail!(Stop::Usage(format!("{} has no plans to choose from; v11 and v12 have: {me} tune v12", step.id)));
    };
    if args.search && id != SEARCHED {
        bail!(Stop::Usage(format!("{id} has no plans to search; {SEARCHED} has: {me} tune {SEARCHED} --search")));
    }
    if id == SEARCHED && !args.size.is_empty() {
        bail!(Stop::Usage(format!("{id} ranks its plans for all of its shapes at once: {me} tune {id} --search")));
    }
    if id == SEARCHED && (args.new || !args.types.is_empty()) {
        let types = args.types.join(" ");
        bail!(Stop::Usage(format!(
            "{id} measures all of its products; v12 can measure some: {me} tune v12 {}",
            if args.new { "--new" } else { &types }
        )));
    }
    if !args.size.is_empty() {
        return predict(args, step);
    }
    let data = format!("steps/{id}/data");
    let root = paths::checkout().with_context(|| format!("{data} is in a checkout, and this folder is not one"))?;
    let programs = kernels::programs(&steps)?;
    if args.search {
        let found = search::Search { root: &root, programs: &programs, step, args }.run()?;
        return written(&root, FOUND, &found, library);
    }
    let mut words = vec!["tune".to_owned(), root.join(&data).join("samples.tsv").display().to_string()];
    words.extend_from_slice(&args.types);
    words.extend(args.new.then(|| "--new".to_owned()));
    let costs = programs.output_of(step, &words)?;
    written(&root, &format!("{data}/costs.json"), &costs, library)
}

/// Prints the plans of v12 for some sizes by their predicted times.
fn predict(args: &Args, step: &'static Step) -> Result<CommandOutcome> {
    let programs = kernels::programs(&[step])?;
    let types = if args.types.is_empty() { vec!["bf16".to_owned()] } else { args.types.clone() };
    for name in types {
        let mut words = vec!["plans".to_owned(), name];
        words.extend(args.size.iter().map(Shape::to_string));
        output::print(&programs.output_of(step, &words)?)?;
    }
    Ok(CommandOutcome::Passed)
}

/// Writes what was measured, if anything was.
fn written(root: &Path, file: &str, measured: &str, (id, library): (&str, &str)) -> Result<CommandOutcome> {
    if !measured.trim().is_empty() {
        catalog::files::write_whole(&root.join(file), measured).with_context(|| format!("writing {file}"))?;
        output::note(&format!(
            "wrote {file}; what the library chooses now: {} bench {id} --kernel {library}",
            paths::command_name()
        ));
    }
    Ok(CommandOutcome::Passed)
}
