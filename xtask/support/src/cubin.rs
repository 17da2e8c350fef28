//! Machine code as NVRTC makes it, and what its assembler says of it.

#[cfg(test)]
mod tests;

use anyhow::{Context, Result};

/// The GPU that machine code is made for: `sm_90`.
pub const GPU: u32 = 90;

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

/// Reads the output of `ptxas -v`: `kernel: 32 registers, 2048 bytes smem, 0 bytes spilled`.
pub fn resources(log: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut kernel, mut spilled) = (String::new(), 0u32);
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            kernel = rest.split('\'').next().unwrap_or_default().to_string();
        } else if let Some(rest) = line.split("bytes stack frame, ").nth(1) {
            spilled = rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        } else if let Some(rest) = line.split(": Used ").nth(1)
            && !kernel.is_empty()
        {
            let registers = rest.split(' ').next().unwrap_or_default();
            let shared = rest.split(", ").find_map(|part| part.strip_suffix(" bytes smem")).unwrap_or("0");
            lines.push(format!("{kernel}: {registers} registers, {shared} bytes smem, {spilled} bytes spilled"));
            (kernel, spilled) = (String::new(), 0);
        }
    }
    lines
}
