//! `cargo xtask solutions`: compiles the kernels of `tests/data/solutions`, which the tests judge without a compiler.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tasks::solutions::{self, Compiled, Solution};

use crate::Verdict;
use crate::support::compiler::{Compiler, DoesNotCompile};
use crate::support::nvrtc::Nvrtc;
use crate::support::output::{self, Stop};
use crate::support::source::Job;
use crate::support::{committed, paths};

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask solutions --check v05/no-padding")]
pub(crate) struct Args {
    /// Compile again, but change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
    /// Kernels, such as v05/no-padding; all when left out
    names: Vec<String>,
}

/// Compiles those whose texts have changed, or with `--check` all that were asked for.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = paths::repository();
    let mut all = Vec::new();
    for step in catalog::STEPS {
        all.push((step.id, solutions::load(&root, step.id)?));
    }
    let known = |name: &String| {
        all.iter()
            .any(|(_, of_step)| of_step.iter().any(|one| one.name == *name))
    };
    if let Some(unknown) = args.names.iter().find(|name| !known(name)) {
        bail!(Stop::Usage(format!("there is no solution `{unknown}`")));
    }
    let is_asked = |name: &String| args.names.is_empty() || args.names.contains(name);

    let nvrtc = Nvrtc::find()?;
    let mut compiler = Compiler::start(&nvrtc.directory)?;
    let (mut n, mut n_stale) = (0, 0);
    for (step, of_step) in all {
        let there = solutions::compiled(&root, step)?;
        let mut kernels = Vec::new();
        for solution in of_step {
            let digest = solution.digest(&root)?;
            let old = there.iter().find(|kernel| kernel.name == solution.name);
            let fresh = old.filter(|old| old.digest == digest);
            let again = is_asked(&solution.name) && (args.check || fresh.is_none());
            n += usize::from(is_asked(&solution.name));
            if !again {
                kernels.extend(old.cloned());
                continue;
            }
            let ptx = committed::compile_until(
                &nvrtc,
                &mut compiler,
                |compiler| compile(&nvrtc, compiler, &root, &solution),
                |ptx| fresh.is_none_or(|fresh| ptx.as_ref() == Some(&fresh.ptx)),
            )?;
            let name = solution.name;
            kernels.extend(ptx.map(|ptx| Compiled { name, digest, ptx }));
        }
        if kernels == there {
            continue;
        }
        n_stale += 1;
        let file = solutions::compiled_file(step);
        let shown = file.display();
        if args.check {
            let differs = kernels.iter().find(|kernel| !there.contains(kernel));
            let which = differs.map_or("a kernel that has no entry", |kernel| kernel.name.as_str());
            output::note(&format!("stale: {shown} ({which})"));
        } else {
            catalog::files::write_whole_bytes(&root.join(&file), &solutions::pack(&kernels))
                .with_context(|| format!("writing {shown}"))?;
            output::note(&format!("wrote {shown}: {} kernels", kernels.len()));
        }
    }
    if args.check && n_stale > 0 {
        output::error(&format!(
            "{n_stale} files are not what their sources give; make them again with: cargo xtask solutions"
        ));
        return Ok(Verdict::Failed);
    }
    output::answer(&format!("{n} kernels, {n_stale} files changed\n"))?;
    Ok(Verdict::Passed)
}

/// Its PTX; none where it is expected not to compile.
fn compile(
    nvrtc: &Nvrtc,
    compiler: &mut Compiler,
    root: &Path,
    solution: &Solution,
) -> Result<Option<String>> {
    let job = Job::of_solution(root, &solution.base, &solution.name, &solution.source);
    let refused = match job.compile(nvrtc, compiler, root) {
        Ok(compiled) => {
            ensure!(
                !solution.is_refused(),
                "{} compiles, though it should not",
                solution.name
            );
            return Ok(Some(compiled.ptx));
        }
        Err(error) => error,
    };
    match refused.downcast_ref::<DoesNotCompile>() {
        Some(_) if solution.is_refused() => Ok(None),
        _ => Err(refused.context(solution.name.clone())),
    }
}
