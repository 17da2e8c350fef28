//! Machine code of a source: the committed one where the source is as it was, otherwise what NVRTC makes of it now.
//!
//! For the kernels of the ladder NVRTC makes the instructions that ptxas, and so the driver, makes of the committed
//! PTX.
//! A kernel that tests `__CUDA_ARCH__` may differ: the PTX is compiled for an older GPU.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalog::provenance::{cubin_hash, cubin_of, is_rust, sha256, target_of};

use crate::compile_cache::{self, CompileCache};
use crate::staleness::{self, State};
use crate::{
    compiler::Compiler,
    nvrtc::Nvrtc,
    ptxas::{self, Ptxas},
    rustc::Rustc,
    source::CompileJob,
};
use crate::{interrupt, source};

/// Returns the file with the machine code of a source, a kernel of the checkout or a learner's.
///
/// If the compiler refuses the source, the error is a [`DoesNotCompile`](crate::nvrtc::DoesNotCompile). If
/// a compiler is needed and there is none, the error names the command that fetches one.
pub fn up_to_date(root: &Path, source: &Path) -> Result<PathBuf> {
    if let Some(path) = committed(root, source) {
        return Ok(path);
    }
    if is_rust(source) {
        let (rustc, text) = (Rustc::find(root, None)?, source::read_source(source)?);
        let ptx = rustc.compile(source.strip_prefix(root).unwrap_or(source), &text)?;
        let cubin = Ptxas::find()?.assemble(&ptx, rustc.folder())?.0;
        return CompileCache::in_checkout(root).keep(&sha256(text.as_bytes()), compile_cache::CUBIN, &cubin);
    }
    // Kernels of the checkout may choose options.
    let job = if source.starts_with(root.join("kernels")) {
        CompileJob::read(root, source)?
    } else {
        CompileJob::of_learner(root, source)?
    };
    // A source for a newer GPU does not compile for this one.
    let sm = match job.capability().parse::<u32>() {
        Ok(oldest) if oldest <= ptxas::GPU => ptxas::GPU.to_string(),
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
pub fn committed(root: &Path, source: &Path) -> Option<PathBuf> {
    let path = cubin_of(root, source)?;
    if staleness::state(root, source) != State::Fresh {
        return None;
    }
    let ptx = std::fs::read_to_string(target_of(root, source)).ok()?;
    let bytes = std::fs::read(&path).ok()?;
    (cubin_hash(&ptx) == Some(sha256(&bytes).as_str())).then_some(path)
}

/// Returns a cubin as NVRTC makes it, without the copy of the PTX, which is most of it.
pub fn without_ptx(mut cubin: Vec<u8>) -> Result<Vec<u8>> {
    cut(&mut cubin, b".nv_debug_ptx_txt\0").context("NVRTC returned no cubin")?;
    Ok(cubin)
}

/// Sections begin at multiples of this at most.
const ALIGNMENT: usize = 128;

/// Takes the contents of a section out of an ELF file, except for a rest that keeps what follows aligned.
fn cut(elf: &mut Vec<u8>, name: &[u8]) -> Option<()> {
    let number = |elf: &[u8], at: usize, n: usize| -> Option<usize> {
        let bytes = elf.get(at..at.checked_add(n)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    };
    let [segments, sections] = [number(elf, 0x20, 8)?, number(elf, 0x28, 8)?];
    let [n_segments, n_sections, names] = [number(elf, 0x38, 2)?, number(elf, 0x3c, 2)?, number(elf, 0x3e, 2)?];
    let names = number(elf, sections + names * 64 + 24, 8)?;
    let mut headers = (0..n_sections).map(|i| sections + i * 64);
    let Some(header) = headers.find(|&at| {
        let text = number(elf, at, 4).and_then(|name| elf.get(names.checked_add(name)?..));
        text.is_some_and(|text| text.starts_with(name))
    }) else {
        return Some(());
    };
    let [start, size] = [number(elf, header + 24, 8)?, number(elf, header + 32, 8)?];
    elf.get_mut(start..start.checked_add(size)?)?.fill(0);
    let n = size / ALIGNMENT * ALIGNMENT;
    elf.get_mut(header + 32..header + 40)?.copy_from_slice(&(size - n).to_le_bytes());
    let offsets = [0x20, 0x28].into_iter();
    let offsets = offsets.chain((0..n_segments).map(|i| segments + i * 56 + 8));
    for at in offsets.chain((0..n_sections).map(|i| sections + i * 64 + 24)) {
        let offset = number(elf, at, 8)?;
        if offset > start {
            elf.get_mut(at..at + 8)?.copy_from_slice(&offset.checked_sub(n)?.to_le_bytes());
        }
    }
    elf.drain(start..start + n);
    Some(())
}
