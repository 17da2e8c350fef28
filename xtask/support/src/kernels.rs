//! Before a step runs: is the PTX that it carries made from the source as it is now? And what was there before an edit?

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use catalog::{Step, provenance};

use crate::staleness::{self, State};
use crate::{committed, interrupt, output, paths};
use crate::{compile_cache::CompileCache, programs::Programs};

/// Returns the programs of some steps, which are built from the kernels as they are now. From here on, Ctrl-C lets the
/// command end by itself.
pub fn programs(steps: &[&'static Step]) -> Result<Programs> {
    interrupt::watch();
    compile_edited(steps)?;
    Programs::find_or_build(steps)
}

/// Compiles what was edited where Cargo builds the steps. Programs that are not built again carry the PTX of the time
/// when they were built, which an edit does not reach.
fn compile_edited(steps: &[&Step]) -> Result<()> {
    let Some(root) = paths::checkout() else { return Ok(()) };
    if paths::builder(&root).is_none() {
        return without_cargo(&root, steps);
    }
    let mut edited: Vec<PathBuf> = Vec::new();
    for source in sources(steps).iter().map(|name| staleness::source_of(&root, name)) {
        let name = paths::from_root(&root, &source);
        if !paths::has_finished_kernels(&root) {
            bail!("this repository has no finished kernels; check yours with: {} check", paths::command_name());
        }
        ensure!(source.is_file(), "{name} is missing; get it back with: git checkout {name}");
        let why = match staleness::state(&root, &source) {
            State::Fresh if !lacks_cubin(&root, &source) => continue,
            State::Fresh => format!("{name} has no machine code any more"),
            State::Edited(file) => format!("{file} changed since it was compiled"),
            State::Missing => format!("{name} has no PTX yet"),
            State::Damaged(why) => {
                let target = paths::from_root(&root, &provenance::target_of(&root, &source));
                bail!("{target} is damaged ({why}); get it back with: git checkout {target}")
            }
        };
        output::note(&format!("{why}; compiling, as with: cargo xtask ptx {name}"));
        edited.push(source);
    }
    for name in sources(steps) {
        let source = root.join("kernels/rust").join(name).with_extension("rs");
        if let State::Edited(file) = staleness::state(&root, &source) {
            output::note(&format!("{file} changed since it was compiled; compile it with: cargo xtask ptx --rust"));
        }
    }
    if edited.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = edited.iter().map(|source| paths::from_root(&root, source)).collect();
    committed::compile_all(&root, &edited, false)
        .map(|_| ())
        .with_context(|| format!("{} must be compiled", names.join(", ")))
}

/// Returns whether the machine code that belongs to the PTX of a source is missing: programs do not build without it.
fn lacks_cubin(root: &Path, source: &Path) -> bool {
    let ptx = std::fs::read_to_string(provenance::target_of(root, source)).unwrap_or_default();
    provenance::cubin_hash(&ptx).is_some() && provenance::cubin_of(root, source).is_some_and(|path| !path.is_file())
}

/// Returns the cubins as of the last commit, of those kernels whose machine code has changed since.
pub fn before(steps: &[&Step]) -> Vec<PathBuf> {
    let Some(root) = paths::checkout().filter(|root| paths::builder(root).is_some()) else { return Vec::new() };
    let cubins: Vec<String> = sources(steps)
        .iter()
        .filter_map(|name| provenance::cubin_of(&root, &staleness::source_of(&root, name)))
        .map(|path| paths::from_root(&root, &path))
        .collect();
    // Without a path, Git would name all files that have changed.
    if cubins.is_empty() {
        return Vec::new();
    }
    // Where there is no Git, or no repository, nothing is known of before.
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let mut words = vec!["diff", "--name-only", "--relative", "HEAD", "--"];
    words.extend(cubins.iter().map(String::as_str));
    let changed = git(&words).unwrap_or_default();
    let changed = String::from_utf8_lossy(&changed);
    let cache = CompileCache::in_checkout(&root);
    let keep = |name: &str| {
        let bytes = git(&["show", &format!("HEAD:./{name}")])?;
        let stem = Path::new(name).file_stem()?.to_str()?;
        cache.put(&format!("{stem}.before"), bytes).ok()
    };
    changed.lines().filter_map(keep).collect()
}

/// Reports an edited kernel that the programs, which are not built again, do not contain: as an error in a checkout, as
/// a remark where programs were copied.
fn without_cargo(root: &Path, steps: &[&Step]) -> Result<()> {
    for name in sources(steps) {
        let source = staleness::source_of(root, name);
        let State::Edited(file) = staleness::state(root, &source) else { continue };
        if paths::is_built_in(root) {
            bail!(
                "{file} changed since it was compiled, and cargo, which builds it in, is not on the PATH; \
                 install Rust, then run: cargo xtask check"
            )
        } else {
            output::note(&format!(
                "{file} changed since it was compiled; the programs here were copied and carry the kernel as it was"
            ))
        }
    }
    Ok(())
}

/// Returns the sources of their kernels, each once.
pub fn sources(steps: &[&Step]) -> Vec<&'static str> {
    catalog::distinct(steps.iter().flat_map(|step| step.kernels).filter_map(|kernel| kernel.source))
}
