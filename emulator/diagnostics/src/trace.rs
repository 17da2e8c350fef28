//! Where an address comes from: the PTX behind it, followed backwards.
//!
//! Only registers that one instruction sets are followed, so that the value of a register is the value of its
//! expression wherever it is used. What is left at the ends (a thread's position, a parameter, a value from memory, a
//! loop variable) is what an index depends on. At most one of the ends may be unknown: it follows from the address.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use program::DecodedKernel;
use program::text::{InstrText, registers};
use simt::{check::coordinates, launch::LaunchRequest};

/// Limit of the search backwards through straight code, in instructions.
const NEAR: usize = 64;
/// Instructions that are followed behind one address.
const MAX_NODES: usize = 2000;
/// Limit on the depth of definitions that are followed.
const MAX_DEPTH: u32 = 60;

/// Origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// `threadIdx` along an axis.
    Thread(usize),
    /// `blockIdx` along an axis.
    Block(usize),
    /// A size of the launch: `blockDim` or `gridDim`.
    Size,
    /// A parameter, by index.
    Param(usize),
    /// The start of an array in shared, local or global memory.
    Symbol,
    /// A value loaded from memory by this instruction.
    Loaded(u32),
    /// A value returned by this atomic instruction.
    Atomic(u32),
    /// A value of another origin, set by this instruction: a loop variable, a result of a warp-wide instruction.
    Other(u32),
}

/// The thread whose registers are evaluated, with its block and the launch.
#[derive(Clone, Copy)]
pub(crate) struct ThreadContext<'a> {
    pub(crate) request: &'a LaunchRequest,
    pub(crate) block: [u32; 3],
    pub(crate) thread: u64,
}

/// The registers of a kernel, by the instruction that sets them.
pub(crate) struct Trace<'a> {
    kernel: &'a DecodedKernel,
    set_by: HashMap<&'a str, Setter>,
}

#[derive(Debug, Clone, Copy)]
enum Setter {
    /// One instruction sets the register, whenever it is reached.
    One(u32),
    /// Several instructions set the register, this one last; or one does, under a condition.
    Several(u32),
}

impl<'a> Trace<'a> {
    pub(crate) fn new(kernel: &'a DecodedKernel) -> Self {
        let mut set_by = HashMap::new();
        for (index, instr) in kernel.instrs.iter().enumerate() {
            let (parts, instr) = (InstrText::new(&instr.text), index as u32);
            for register in parts.sets() {
                let by = if parts.guard.is_some() { Setter::Several(instr) } else { Setter::One(instr) };
                set_by.entry(register).and_modify(|known| *known = Setter::Several(instr)).or_insert(by);
            }
        }
        Self { kernel, set_by }
    }

    fn parts(&self, instr: u32) -> Option<InstrText<'a>> {
        Some(InstrText::new(&self.kernel.instrs.get(instr as usize)?.text))
    }

    /// Returns the operand in brackets of an access.
    fn operand(&self, instr: u32) -> Option<&'a str> {
        let parts = self.parts(instr)?;
        let operand = parts.operands.into_iter().find(|operand| operand.starts_with('['))?;
        Some(operand.trim_start_matches('[').trim_end_matches(']').trim())
    }

    /// Returns the operand of an address, without an offset that is added: a register, or the name of a variable.
    pub(crate) fn base(&self, instr: u32) -> Option<&'a str> {
        Some(split_address(self.operand(instr)?).0)
    }

    /// Returns whether a trap is that of a grid's barrier without a workspace: a branch on `%envreg1` and `%envreg2`,
    /// which say where the workspace is, goes past it.
    pub(crate) fn traps_without_workspace(&self, trap: u32) -> bool {
        let last = |register: &str, before: u32| {
            let from = (before as usize).saturating_sub(NEAR) as u32;
            (from..before).rev().find(|&at| self.parts(at).is_some_and(|parts| parts.sets().any(|set| set == register)))
        };
        let found = || {
            let branch = trap.checked_sub(1)?;
            let InstrText { guard, mnemonic, .. } = self.parts(branch)?;
            let predicate = guard?.trim_start_matches('!');
            let compare = last(predicate, branch).filter(|_| mnemonic.starts_with("bra"))?;
            let parts = self.parts(compare)?;
            let compares = parts.mnemonic.starts_with("setp.") && parts.mnemonic.ends_with("64");
            let [_, workspace, "0"] = parts.operands[..] else { return None };
            let mut open = vec![(workspace, compare)];
            let mut steps = 0;
            while let Some((register, before)) = open.pop().filter(|_| compares && steps < NEAR) {
                steps += 1;
                let Some(parts) = last(register, before).and_then(|at| Some((at, self.parts(at)?))) else { continue };
                let (at, parts) = parts;
                let sources = parts.operands.get(1..)?;
                if sources.iter().any(|source| ["%envreg1", "%envreg2", "[grid_workspace]"].contains(source)) {
                    return Some(());
                }
                if ["mov", "cvt", "bfi", "shl", "or", "add"].contains(&parts.family()) {
                    open.extend(sources.iter().flat_map(|source| registers(source)).map(|register| (register, at)));
                }
            }
            None
        };
        found().is_some()
    }

    /// Returns the values that the address of an access depends on, or `None` if there are too many to follow.
    pub(crate) fn ends(&self, instr: u32) -> Option<BTreeSet<End>> {
        let base = self.base(instr)?;
        let mut ends = BTreeSet::new();
        let mut seen = BTreeSet::new();
        self.collect(base, &mut ends, &mut seen, 0)?;
        Some(ends)
    }

    fn collect<'t>(
        &'t self, word: &'t str, ends: &mut BTreeSet<End>, seen: &mut BTreeSet<&'t str>, depth: u32,
    ) -> Option<()> {
        if !word.starts_with('%') {
            if word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c)) {
                ends.insert(End::Symbol);
            }
            return Some(());
        }
        if let Some(end) = special(word) {
            ends.insert(end);
            return Some(());
        }
        if !seen.insert(word) {
            return Some(());
        }
        if seen.len() > MAX_NODES || depth > MAX_DEPTH {
            return None;
        }
        match self.source(word)? {
            Source::End(end) => {
                ends.insert(end);
            }
            Source::Computed(operands) => {
                return operands.into_iter().try_for_each(|operand| self.collect(operand, ends, seen, depth + 1));
            }
        }
        Some(())
    }

    fn source(&self, register: &str) -> Option<Source<'a>> {
        let instr = match self.set_by.get(register)? {
            Setter::One(instr) => *instr,
            Setter::Several(instr) => return Some(Source::End(End::Other(*instr))),
        };
        let parts = self.parts(instr)?;
        Some(match parts.family() {
            "ld" if parts.mnemonic.starts_with("ld.param") => {
                let name = self.base(instr)?;
                match self.kernel.params.iter().position(|param| param.name == name) {
                    Some(index) => Source::End(End::Param(index)),
                    None => Source::End(End::Other(instr)),
                }
            }
            "ld" | "ldu" => Source::End(End::Loaded(instr)),
            "atom" => Source::End(End::Atomic(instr)),
            "shfl" | "vote" | "match" | "redux" | "activemask" | "tex" | "call" | "bar" | "barrier" => {
                Source::End(End::Other(instr))
            }
            _ => Source::Computed(parts.operands.get(1..)?.to_vec()),
        })
    }

    /// Returns the address of an access, when `unknown` has this value.
    fn address(&self, instr: u32, thread: ThreadContext<'_>, unknown: (End, u64)) -> Option<u64> {
        let (base, offset) = split_address(self.operand(instr)?);
        let mut known = HashMap::new();
        let base = self.value(base, thread, unknown, &mut known, 0)?;
        Some(base.wrapping_add(offset as u64))
    }

    /// Returns the value of `end`, the one unknown of the address, that leads to this address.
    ///
    /// `low` bits of the address count: what a space's own addresses have.
    pub(crate) fn solve(&self, instr: u32, thread: ThreadContext<'_>, end: End, address: u64, low: u32) -> Option<i64> {
        let mask = if low >= 64 { u64::MAX } else { (1 << low) - 1 };
        let address_for = |value: u64| self.address(instr, thread, (end, value));
        let (zero, one) = (address_for(0)?, address_for(1)?);
        let slope = one.wrapping_sub(zero) as i64;
        let far = address.wrapping_sub(zero) & mask;
        // The top bit of the part that counts is its sign.
        let far = if low >= 64 { far as i64 } else { ((far << (64 - low)) as i64) >> (64 - low) };
        let value = far.checked_div(slope)?;
        (address_for(value as u64)? & mask == address & mask).then_some(value)
    }

    /// Returns the address of an access, when all values that it depends on are known.
    pub(crate) fn known_address(&self, instr: u32, thread: ThreadContext<'_>) -> Option<u64> {
        self.address(instr, thread, (End::Other(u32::MAX), 0))
    }

    fn value<'t>(
        &'t self, word: &'t str, thread: ThreadContext<'_>, unknown: (End, u64), known: &mut HashMap<&'t str, u64>,
        depth: u32,
    ) -> Option<u64> {
        if let Some(value) = number(word) {
            return Some(value as u64);
        }
        if !word.starts_with('%') {
            let shared = self.kernel.shared.iter().find(|array| array.name == word);
            return shared.map(|array| u64::from(array.offset));
        }
        if let Some(value) = known.get(word) {
            return Some(*value);
        }
        if known.len() > MAX_NODES || depth > MAX_DEPTH {
            return None;
        }
        let value = match special(word) {
            Some(_) => special_value(word, thread)?,
            None => match self.source(word)? {
                Source::End(end) if end == unknown.0 => {
                    // A register of 32 bits holds the low ones.
                    if word.starts_with("%rd") { unknown.1 } else { unknown.1 & 0xffff_ffff }
                }
                Source::End(End::Param(_)) => self.parameter(self.setter(word)?, thread)?,
                Source::End(_) => return None,
                Source::Computed(_) => {
                    let parts = self.parts(self.setter(word)?)?;
                    let operands = parts.operands.get(1..)?.iter();
                    let values = operands.map(|operand| self.value(operand, thread, unknown, known, depth + 1));
                    compute(parts.mnemonic, &values.collect::<Option<Vec<u64>>>()?)?
                }
            },
        };
        known.insert(word, value);
        Some(value)
    }

    fn setter(&self, register: &str) -> Option<u32> {
        match self.set_by.get(register)? {
            Setter::One(instr) => Some(*instr),
            Setter::Several(_) => None,
        }
    }

    /// Returns the value that an `ld.param` loads; `None` where it is not known.
    fn parameter(&self, instr: u32, thread: ThreadContext<'_>) -> Option<u64> {
        let parts = self.parts(instr)?;
        let (name, offset) = split_address(self.operand(instr)?);
        let param = self.kernel.params.iter().find(|param| param.name == name)?;
        let start = usize::try_from(i64::from(param.offset).checked_add(offset)?).ok()?;
        let bytes = match parts.mnemonic.rsplit('.').next()? {
            "u64" | "s64" | "b64" => 8,
            "u32" | "s32" | "b32" => 4,
            _ => return None,
        };
        let bytes = thread.request.params.get(start..start.checked_add(bytes)?)?;
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }
}

enum Source<'a> {
    End(End),
    Computed(Vec<&'a str>),
}

/// Splits `%rd6+4` into `%rd6` and 4.
fn split_address(text: &str) -> (&str, i64) {
    let Some(at) = text.rfind('+') else { return (text, 0) };
    match text[at + 1..].trim().parse() {
        Ok(offset) => (text[..at].trim(), offset),
        Err(_) => (text, 0),
    }
}

fn number(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as i64),
        None => word.parse().ok().or_else(|| word.parse::<u64>().ok().map(|value| value as i64)),
    }
}

fn axis(word: &str) -> Option<usize> {
    match word.rsplit('.').next()? {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    }
}

/// Returns a special register that is known before a thread starts.
fn special(word: &str) -> Option<End> {
    Some(match word.split('.').next()? {
        "%tid" => End::Thread(axis(word)?),
        "%ctaid" => End::Block(axis(word)?),
        "%ntid" | "%nctaid" => End::Size,
        "%laneid" | "%warpid" => End::Thread(0),
        _ => return None,
    })
}

fn special_value(word: &str, thread: ThreadContext<'_>) -> Option<u64> {
    let request = thread.request;
    Some(u64::from(match word.split('.').next()? {
        "%tid" => coordinates(thread.thread, request.block)[axis(word)?],
        "%ctaid" => thread.block[axis(word)?],
        "%ntid" => request.block[axis(word)?],
        "%nctaid" => request.grid[axis(word)?],
        "%laneid" => (thread.thread % 32) as u32,
        "%warpid" => (thread.thread / 32) as u32,
        _ => return None,
    }))
}

/// Computes the result of an instruction that addresses are made of; `None` for others.
fn compute(mnemonic: &str, operands: &[u64]) -> Option<u64> {
    let mut words = mnemonic.split('.');
    let family = words.next()?;
    let ty = mnemonic.rsplit('.').next()?;
    let wide = mnemonic.contains(".wide");
    let bits: u32 = ty.get(1..)?.parse().ok()?;
    let signed = ty.starts_with('s');
    if !["u", "s", "b"].contains(&ty.get(..1)?) || ![32, 64].contains(&bits) {
        return None;
    }
    let extend = |value: u64, bits: u32, signed: bool| -> i128 {
        match (bits, signed) {
            (32, true) => i128::from(value as u32 as i32),
            (32, false) => i128::from(value as u32),
            (_, true) => i128::from(value as i64),
            _ => i128::from(value),
        }
    };
    let cut = |value: i128, bits: u32| match bits {
        32 => u64::from(value as u32),
        _ => value as u64,
    };
    let operand = |place: usize| operands.get(place).map(|value| extend(*value, bits, signed));
    let (a, b) = (operand(0)?, operand(1));
    let value = match family {
        "mov" | "cvta" => a,
        "cvt" => {
            // `cvt.s64.s32`: the last type is the source's.
            let to: u32 = mnemonic.split('.').rev().nth(1)?.get(1..)?.parse().ok()?;
            return [32, 64].contains(&to).then(|| cut(a, to));
        }
        "add" => a + b?,
        "sub" => a - b?,
        "mul" | "mad" if mnemonic.contains(".hi") => return None,
        "mul" if wide => return Some((a.wrapping_mul(b?)) as u64),
        "mad" if wide => return Some((a.wrapping_mul(b?) as u64).wrapping_add(*operands.get(2)?)),
        "mul" => a.checked_mul(b?)?,
        "mad" => a.checked_mul(b?)?.checked_add(operand(2)?)?,
        "shl" => a.checked_mul(1 << u32::try_from(b?).ok().filter(|by| *by < bits)?)?,
        "shr" => a >> u32::try_from(b?).ok().filter(|by| *by < bits)?,
        "and" => a & b?,
        "or" => a | b?,
        "xor" => a ^ b?,
        "not" => !a,
        "neg" => -a,
        "abs" => a.abs(),
        "min" => a.min(b?),
        "max" => a.max(b?),
        "div" => a.checked_div(b?)?,
        "rem" => a.checked_rem(b?)?,
        _ => return None,
    };
    Some(cut(value, bits))
}
