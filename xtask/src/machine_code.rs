//! Machine code of a source: the committed one where the source is as it was, otherwise what its compiler makes of it
//! now.
//!
//! For the kernels of the ladder NVRTC makes the instructions that ptxas, and so the driver, makes of the committed
//! PTX.
//! A kernel that tests `__CUDA_ARCH__` may differ: the PTX is compiled for an older GPU.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::Result;
use catalog::provenance::{cubin_hash, cubin_of, is_rust, sha256, target_of};
use xtask_support::compile_cache::{self, CompileCache};
use xtask_support::cubin::{GPU, without_ptx};
use xtask_support::staleness::{self, State};
use xtask_support::{compiler::Compiler, nvrtc::Nvrtc, source::CompileJob};
use xtask_support::{interrupt, source};

use crate::{ptxas::Ptxas, rustc::Rustc};

/// Returns the file with the machine code of a source, a kernel of the checkout or a learner's.
///
/// If the compiler refuses the source, the error is a [`DoesNotCompile`](xtask_support::nvrtc::DoesNotCompile). If
/// a compiler is needed and there is none, the error names the command that fetches one.
pub(crate) fn up_to_date(root: &Path, source: &Path) -> Result<PathBuf> {
    if let Some(path) = committed(root, source) {
        return Ok(path);
    }
    if is_rust(source) {
        let (rustc, text) = (Rustc::find(root, None)?, source::read_source(source)?);
        let (cache, name) = (CompileCache::in_checkout(root), source.strip_prefix(root).unwrap_or(source));
        let key = rustc.key(name, &text);
        if let Some(path) = cache.known(&key, compile_cache::CUBIN) {
            return Ok(path);
        }
        let ptx = std::fs::read_to_string(rustc.kept_ptx(&cache, name, &text)?)?;
        let cubin = Ptxas::find()?.assemble(&ptx, rustc.folder())?.0;
        return cache.keep(&key, compile_cache::CUBIN, &cubin);
    }
    // Kernels of the checkout may choose options.
    let job = if source.starts_with(root.join("kernels")) {
        CompileJob::read(root, source)?
    } else {
        CompileJob::of_learner(root, source)?
    };
    // A source for a newer GPU does not compile for this one.
    let sm = match job.capability().parse::<u32>() {
        Ok(oldest) if oldest <= GPU => GPU.to_string(),
        _ => job.capability().to_owned(),
    };
    let includes = source::local_includes(root, source, &job.source)?;
    let key = compile_cache::key(&job, &includes, &format!("{}\nsm_{sm}", compile_cache::NVRTC))?;
    let cache = CompileCache::in_checkout(root);
    if let Some(path) = cache.known(&key, compile_cache::CUBIN) {
        return Ok(path);
    }
    let mut compiler = Compiler::start(&Nvrtc::find()?)?;
    let compiled = job.compile_for(&sm, &includes, &mut compiler, root);
    interrupt::check(format!("{} was not compiled", job.name))?;
    cache.keep(&key, compile_cache::CUBIN, &without_ptx(compiled?.cubin)?)
}

/// Returns the committed cubin, if it was made from the sources as they are.
fn committed(root: &Path, source: &Path) -> Option<PathBuf> {
    let path = cubin_of(root, source)?;
    if staleness::state(root, source) != State::Fresh {
        return None;
    }
    let ptx = std::fs::read_to_string(target_of(root, source)).ok()?;
    let bytes = std::fs::read(&path).ok()?;
    (cubin_hash(&ptx) == Some(sha256(&bytes).as_str())).then_some(path)
}
