//! `cargo xtask specimens`: the kernels of `tests/data` that tests run without a compiler (`tasks::specimens`):
//! packs their PTX, and shows one that lies in no file.

use anyhow::{Context, Result, bail};
use tasks::solutions::{Compiled, pack};
use tasks::specimens;

use crate::Verdict;
use crate::support::compiler::Compiler;
use crate::support::nvrtc::Nvrtc;
use crate::support::output::{self, Stop};
use crate::support::{committed, paths};

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask specimens --show out_of_bounds_broken")]
pub(crate) struct Args {
    /// Compile again, change nothing; fail if something would change
    #[arg(long)]
    check: bool,
    /// Print their sources, and compile nothing
    #[arg(long, conflicts_with = "check")]
    show: bool,
    /// With --show: print their PTX instead
    #[arg(long, requires = "show")]
    ptx: bool,
    /// Kernels, as out_of_bounds_broken; none for all
    names: Vec<String>,
}

/// Compiles those whose texts have changed, or with `--check` all that were asked for.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = paths::repository();
    let mut all = Vec::new();
    for folder in specimens::FOLDERS {
        all.push((folder, specimens::load(&root, folder)?));
    }
    let known = |name: &String| {
        all.iter()
            .any(|(_, found)| found.iter().any(|one| one.name == *name))
    };
    if let Some(unknown) = args.names.iter().find(|name| !known(name)) {
        bail!(Stop::Usage(format!("there is no specimen `{unknown}`")));
    }
    let is_asked = |name: &String| args.names.is_empty() || args.names.contains(name);
    if args.show {
        for (folder, found) in &all {
            let compiled = specimens::compiled(&root, folder)?;
            for one in found.iter().filter(|one| is_asked(&one.name)) {
                let packed = compiled.iter().find(|kernel| kernel.name == one.name);
                match args.ptx {
                    true => output::answer(packed.map_or("", |kernel| &kernel.ptx))?,
                    false => output::answer(&one.source)?,
                }
            }
        }
        return Ok(Verdict::Passed);
    }

    let nvrtc = Nvrtc::find()?;
    let mut compiler = Compiler::start(&nvrtc.directory)?;
    let (mut n, mut n_stale) = (0, 0);
    for (folder, found) in all {
        let there = specimens::compiled(&root, folder)?;
        let mut kernels = Vec::new();
        for one in found {
            let digest = one.digest();
            let old = there.iter().find(|kernel| kernel.name == one.name);
            // Files that it includes have their hashes in the header of its PTX.
            let fresh = old.filter(|old| old.digest == digest && one.is_fresh(&root, &old.ptx));
            n += usize::from(is_asked(&one.name));
            if !is_asked(&one.name) || (!args.check && fresh.is_some()) {
                kernels.extend(old.cloned());
                continue;
            }
            let before = old.map_or("", |old| &old.ptx);
            let path = root.join(&one.path);
            let ptx = committed::ptx_of_text(&nvrtc, &mut compiler, &root, &path, &one.source, before)
                .with_context(|| one.name.clone())?;
            let name = one.name;
            kernels.push(Compiled { name, digest, ptx });
        }
        if kernels == there {
            continue;
        }
        n_stale += 1;
        let file = specimens::compiled_file(folder);
        let shown = file.display();
        if args.check {
            let differs = kernels.iter().find(|kernel| !there.contains(kernel));
            let which = differs.map_or("a kernel that has no source", |kernel| kernel.name.as_str());
            output::note(&format!("stale: {shown} ({which})"));
        } else {
            catalog::files::write_whole_bytes(&root.join(&file), &pack(&kernels))
                .with_context(|| format!("writing {shown}"))?;
            output::note(&format!("wrote {shown}: {} kernels", kernels.len()));
        }
    }
    if args.check && n_stale > 0 {
        output::error(&format!(
            "{n_stale} files are not what their sources give; make them again with: cargo xtask specimens"
        ));
        return Ok(Verdict::Failed);
    }
    output::answer(&format!("{n} kernels, {n_stale} files changed\n"))?;
    Ok(Verdict::Passed)
}
