//! `cargo xtask solutions`: compiles the kernels of `tests/data/solutions`, which the tests judge without a compiler.

use std::path::Path;

use anyhow::{Result, ensure};
use tasks::solutions::{self, Solution};
use xtask_support::{CommandOutcome, compiler::Compiler, nvrtc::DoesNotCompile, source::CompileJob};
use xtask_support::{committed, paths};

use crate::commands::maintain::packed::{Pack, PackedKernel, Request};

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask solutions --check v05/no-padding")]
pub(crate) struct Args {
    /// Compile again, but change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
    /// Kernels, such as v05/no-padding; all when left out
    names: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::repository();
    let pack = |step: &catalog::Step| -> Result<Pack<Solution>> {
        Ok(Pack {
            file: solutions::compiled_file(step.id),
            kernels: solutions::load(&root, step.id)?,
            old: solutions::compiled(&root, step.id)?,
        })
    };
    let packs = catalog::STEPS.iter().map(pack).collect::<Result<Vec<_>>>()?;
    let request = Request { command: "solutions", root: &root, check: args.check, names: &args.names };
    request.check_names(&packs)?;
    request.update(packs)
}

impl PackedKernel for Solution {
    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&self, root: &Path) -> Result<String> {
        self.digest(root)
    }

    fn is_fresh(&self, _: &Path, _: &str) -> bool {
        true
    }

    fn compile(
        &self, compiler: &mut Compiler, root: &Path, old: Option<&str>, is_fresh: bool,
    ) -> Result<Option<String>> {
        let old = old.filter(|_| is_fresh);
        committed::compile_until(
            compiler,
            |compiler| compile(compiler, root, self),
            |ptx| old.is_none_or(|old| ptx.as_deref() == Some(old)),
        )
    }
}

/// Compiles a solution to PTX; `None` where it is expected not to compile.
fn compile(compiler: &mut Compiler, root: &Path, solution: &Solution) -> Result<Option<String>> {
    let job = CompileJob::of_solution(root, &solution.base, &solution.name, &solution.source);
    let refused = match job.compile(compiler, root) {
        Ok(compiled) => {
            ensure!(!solution.is_refused(), "{} compiles, but its entry expects a compiler error", solution.name);
            return Ok(Some(compiled.ptx));
        }
        Err(error) => error,
    };
    match refused.downcast_ref::<DoesNotCompile>() {
        Some(_) if solution.is_refused() => Ok(None),
        _ => Err(refused.context(solution.name.clone())),
    }
}
