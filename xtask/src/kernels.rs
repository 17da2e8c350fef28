//! Before a step runs: is the PTX that it carries made from the source as it is now?

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ladder::{Step, provenance};

use crate::fresh::{self, State};
use crate::{place, ptx, say};

/// Compiles what was edited where Cargo builds the steps. Programs that are not built again carry the PTX of the time
/// when they were built, which an edit does not reach.
pub(crate) fn compile_edited(steps: &[&Step]) -> Result<()> {
    let Some(root) = place::checkout() else {
        return Ok(());
    };
    if place::builder(&root).is_none() {
        return without_cargo(&root, steps);
    }
    let mut edited: Vec<PathBuf> = Vec::new();
    for source in sources(steps).iter().map(|name| fresh::source_of(&root, name)) {
        if edited.contains(&source) {
            continue;
        }
        let name = short(&root, &source);
        if !source.is_file() {
            bail!("{name} is missing; get it back with: git checkout {name}");
        }
        match fresh::state(&root, &source) {
            State::Fresh => continue,
            State::Edited(file) => say::note(&format!(
                "{file} changed since it was compiled; compiling, as with: cargo xtask ptx {name}"
            )),
            State::Missing => say::note(&format!(
                "{name} has no PTX yet; compiling, as with: cargo xtask ptx {name}"
            )),
            State::Damaged(why) => {
                let target = short(&root, &provenance::target_of(&root, &source));
                bail!("{target} is damaged ({why}); get it back with: git checkout {target}")
            }
        }
        edited.push(source);
    }
    if edited.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = edited.iter().map(|source| short(&root, source)).collect();
    ptx::compile_all(&root, &edited, false)
        .map(|_| ())
        .with_context(|| format!("{} must be compiled", names.join(", ")))
}

/// An edited kernel is not in the programs that run: an error beside its sources, a remark where programs were copied.
fn without_cargo(root: &Path, steps: &[&Step]) -> Result<()> {
    for name in sources(steps) {
        let source = fresh::source_of(root, name);
        let State::Edited(file) = fresh::state(root, &source) else {
            continue;
        };
        match place::is_built_in(root) {
            true => bail!(
                "{file} changed since it was compiled, and cargo, which builds it in, is not on the PATH; \
                 install Rust, then run: cargo xtask check"
            ),
            false => say::note(&format!(
                "{file} changed since it was compiled; the programs here were copied and carry the kernel as it was"
            )),
        }
    }
    Ok(())
}

/// Sources of their kernels, each once.
pub(crate) fn sources(steps: &[&Step]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for name in steps
        .iter()
        .flat_map(|step| step.kernels)
        .filter_map(|kernel| kernel.source)
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn short(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
