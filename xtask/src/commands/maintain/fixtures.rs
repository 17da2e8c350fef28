//! `cargo xtask fixtures`: the kernels of `tests/fixtures` that tests run without a compiler (`tasks::fixtures`):
//! packs their PTX, and shows one that lies in no file.

use std::path::Path;

use anyhow::{Context, Result};
use catalog::provenance::is_rust;
use tasks::fixtures::{self, Fixture};
use xtask_support::{CommandOutcome, compiler::Compiler};
use xtask_support::{committed, output, paths};

use crate::commands::maintain::packed::{Pack, PackedKernel, Request};
use crate::rustc::Rustc;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask fixtures --show out_of_bounds_broken")]
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

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::repository();
    let pack = |folder: &str| -> Result<Pack<Fixture>> {
        Ok(Pack {
            file: fixtures::compiled_file(folder),
            kernels: fixtures::load(&root, folder)?,
            old: fixtures::compiled(&root, folder)?,
        })
    };
    let packs = fixtures::FOLDERS.into_iter().map(pack).collect::<Result<Vec<_>>>()?;
    let request = Request { command: "fixtures", root: &root, check: args.check, names: &args.names };
    request.check_names(&packs)?;
    if !args.show {
        return request.update(packs);
    }
    for Pack { kernels, old, .. } in &packs {
        for one in kernels.iter().filter(|one| request.is_asked(&one.name)) {
            let packed = old.iter().find(|kernel| kernel.name == one.name);
            if args.ptx { output::print(packed.map_or("", |kernel| &kernel.ptx))? } else { output::print(&one.source)? }
        }
    }
    Ok(CommandOutcome::Passed)
}

impl PackedKernel for Fixture {
    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&self, _: &Path) -> Result<String> {
        Ok(self.digest())
    }

    /// Returns whether the PTX is fresh: its header has the hashes of files that the source includes.
    fn is_fresh(&self, root: &Path, ptx: &str) -> bool {
        self.is_fresh(root, ptx)
    }

    fn compile(&self, compiler: &mut Compiler, root: &Path, old: Option<&str>, _: bool) -> Result<Option<String>> {
        let ptx = if is_rust(&self.path) {
            Rustc::find(root, None).and_then(|rustc| rustc.compile(&self.path, &self.source))
        } else {
            committed::ptx_of_text(compiler, root, &root.join(&self.path), &self.source, old.unwrap_or_default())
        };
        ptx.with_context(|| self.name.clone()).map(Some)
    }
}
