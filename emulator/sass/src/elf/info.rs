//! The sections `.nv.info`, which describe kernels to the driver: attributes, each with a number, a kind and a value.

use std::collections::HashMap;

use crate::error::{ReadError, damaged};
use crate::module::{CubinKernel, Parameter};

/// Kind of an attribute whose value has the given length; other kinds store two bytes of value in the length field.
const SIZED: u8 = 4;

const MAX_THREADS: u8 = 0x05;
const PARAMETER_BANK: u8 = 0x0a;
const STACK_SIZE: u8 = 0x12;
const PARAMETER: u8 = 0x17;
const PARAMETER_BYTES: u8 = 0x19;
const REGISTERS: u8 = 0x2f;
const CLUSTER: u8 = 0x3d;
const EXPLICIT_CLUSTER: u8 = 0x3e;
const MAX_CLUSTER: u8 = 0x3f;
/// A parameter of a kernel that has more than 4 KiB of them.
const LARGE_PARAMETER: u8 = 0x45;
const BARRIERS: u8 = 0x4c;

const MAX_PARAMETER_BYTES: u32 = 1 << 15;

/// An attribute of a kernel in a section `.nv.info`.
struct Attribute<'a> {
    number: u8,
    short: u16,
    value: &'a [u8],
}

impl Attribute<'_> {
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.value.get(at * 4..at * 4 + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn three_words(&self) -> Option<[u32; 3]> {
        Some([self.word(0)?, self.word(1)?, self.word(2)?])
    }
}

/// Iterates over the attributes up to the first one that is cut off.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    std::iter::from_fn(move || {
        let (&[kind, number, low, high], rest) = bytes.split_first_chunk::<4>()?;
        let short = u16::from_le_bytes([low, high]);
        let (value, rest) = rest.split_at_checked(if kind == SIZED { short.into() } else { 0 })?;
        bytes = rest;
        Some(Attribute { number, short, value })
    })
}

/// Attributes of all functions in `.nv.info`, by symbol.
pub(super) struct Counts {
    pub(super) registers: HashMap<u32, u32>,
    /// Bytes of local memory, called functions included.
    pub(super) stack: HashMap<u32, u32>,
}

pub(super) fn counts(bytes: &[u8]) -> Counts {
    let mut counts = Counts { registers: HashMap::new(), stack: HashMap::new() };
    for attribute in attributes(bytes) {
        let map = match attribute.number {
            REGISTERS => &mut counts.registers,
            STACK_SIZE => &mut counts.stack,
            _ => continue,
        };
        if let (Some(symbol), Some(count)) = (attribute.word(0), attribute.word(1)) {
            map.insert(symbol, count);
        }
    }
    counts
}

/// Sets the attributes of a kernel, from the section `.nv.info.NAME`.
pub(super) fn describe(kernel: &mut CubinKernel, bytes: &[u8], section: &str) -> Result<(), ReadError> {
    let mut parameters = Vec::new();
    for attribute in attributes(bytes) {
        match attribute.number {
            MAX_THREADS => kernel.max_threads = attribute.three_words(),
            CLUSTER => kernel.cluster.required = attribute.three_words(),
            EXPLICIT_CLUSTER => kernel.cluster.explicit = true,
            MAX_CLUSTER => kernel.cluster.max_blocks = attribute.word(0),
            PARAMETER_BANK => {
                let word = attribute.word(1).unwrap_or(0);
                (kernel.parameter_base, kernel.parameter_bytes) = (word & 0xffff, word >> 16);
            }
            // Only in files of CUDA 13.
            BARRIERS => kernel.barriers = (attribute.short & 0x7f).into(),
            PARAMETER_BYTES => kernel.parameter_bytes = attribute.short.into(),
            PARAMETER | LARGE_PARAMETER => {
                if let (Some(place), Some(size)) = (attribute.word(1), attribute.word(2)) {
                    let (ordinal, offset) = (place & 0xffff, place >> 16);
                    let size = if attribute.number == PARAMETER { size >> 18 } else { size & 0xffff };
                    parameters.push((ordinal, Parameter { offset, size }));
                }
            }
            _ => {}
        }
    }
    parameters.sort_by_key(|(ordinal, _)| *ordinal);
    kernel.parameters = parameters.into_iter().map(|(_, parameter)| parameter).collect();
    let end = kernel.parameters.iter().map(|p| p.offset + p.size).max().unwrap_or(0);
    if end > MAX_PARAMETER_BYTES {
        return Err(damaged("its parameters are too long", section));
    }
    Ok(())
}
