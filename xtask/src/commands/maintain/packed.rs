//! Kernels of tests whose PTX is packed, one file for each folder of them: `cargo xtask solutions` and `fixtures`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use catalog::files::write_whole_bytes;
use tasks::solutions::{PackedPtx, pack};
use xtask_support::output::{self, Stop};
use xtask_support::{CommandOutcome, compiler::Compiler, nvrtc::Nvrtc};

/// A kernel whose PTX is packed.
pub(crate) trait PackedKernel {
    fn name(&self) -> &str;

    /// Returns the hash of everything that determines its PTX, except what that PTX itself names.
    fn digest(&self, root: &Path) -> Result<String>;

    /// Returns whether the files that its PTX names are unchanged.
    fn is_fresh(&self, root: &Path, ptx: &str) -> bool;

    /// Returns its PTX; `None` where it is expected not to compile. `old` is what was packed, and `is_fresh` says that
    /// the same text is expected again.
    fn compile(
        &self, compiler: &mut Compiler, root: &Path, old: Option<&str>, is_fresh: bool,
    ) -> Result<Option<String>>;
}

/// A file of packed PTX.
pub(crate) struct Pack<K> {
    /// The file, relative to the checkout.
    pub(crate) file: PathBuf,
    pub(crate) kernels: Vec<K>,
    /// The contents of the file before the command.
    pub(crate) old: Vec<PackedPtx>,
}

/// A command that compiles packed kernels: its name, `solutions`, and its arguments.
pub(crate) struct Request<'a> {
    pub(crate) command: &'static str,
    pub(crate) root: &'a Path,
    pub(crate) check: bool,
    /// Names of kernels; all when empty.
    pub(crate) names: &'a [String],
}

impl Request<'_> {
    pub(crate) fn is_asked(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|asked| asked == name)
    }

    /// Fails when a name is that of no kernel.
    pub(crate) fn check_names<K: PackedKernel>(&self, packs: &[Pack<K>]) -> Result<()> {
        let mut kernels = packs.iter().flat_map(|pack| &pack.kernels);
        let unknown = self.names.iter().find(|name| !kernels.clone().any(|kernel| kernel.name() == *name));
        match (unknown, kernels.next()) {
            (Some(unknown), known) => {
                let noun = self.command.trim_end_matches('s');
                let example = known.map_or(String::new(), |kernel| format!(", such as `{}`", kernel.name()));
                bail!(Stop::Usage(format!(
                    "there is no {noun} `{unknown}`; give the name of a kernel{example}, or none to compile all that changed"
                )))
            }
            (None, _) => Ok(()),
        }
    }

    /// Compiles kernels whose texts have changed, or with `check` all that were asked for, and writes files that
    /// differ.
    pub(crate) fn update<K: PackedKernel>(&self, packs: Vec<Pack<K>>) -> Result<CommandOutcome> {
        let mut compiler = Compiler::start(&Nvrtc::find()?)?;
        let (mut n, mut n_stale) = (0, 0);
        for Pack { file, kernels, old: old_kernels } in packs {
            let mut new = Vec::new();
            for kernel in kernels {
                let name = kernel.name().to_owned();
                let digest = kernel.digest(self.root)?;
                let old = old_kernels.iter().find(|one| one.name == name);
                let is_fresh = old.is_some_and(|old| old.digest == digest && kernel.is_fresh(self.root, &old.ptx));
                n += usize::from(self.is_asked(&name));
                if !self.is_asked(&name) || (is_fresh && !self.check) {
                    new.extend(old.cloned());
                    continue;
                }
                let old = old.map(|old| old.ptx.as_str());
                let ptx = kernel.compile(&mut compiler, self.root, old, is_fresh)?;
                new.extend(ptx.map(|ptx| PackedPtx { name, digest, ptx }));
            }
            if new == old_kernels {
                continue;
            }
            n_stale += 1;
            let shown = file.display();
            if self.check {
                let differs = new.iter().find(|kernel| !old_kernels.contains(kernel));
                let which = differs.map_or("a kernel that has no source", |kernel| kernel.name.as_str());
                output::note(&format!("stale: {shown} ({which})"));
            } else {
                write_whole_bytes(&self.root.join(&file), &pack(&new)).with_context(|| format!("writing {shown}"))?;
                output::note(&format!("wrote {shown}: {} kernels", new.len()));
            }
        }
        if self.check && n_stale > 0 {
            output::error(&format!(
                "{n_stale} files are out of date; compile them again with: cargo xtask {}",
                self.command
            ));
            return Ok(CommandOutcome::Failed);
        }
        output::print(&format!("{n} kernels, {n_stale} files changed\n"))?;
        Ok(CommandOutcome::Passed)
    }
}
