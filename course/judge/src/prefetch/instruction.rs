//! Instructions parsed from their text: the effect on loaded values, and the registers.

use std::collections::HashMap;

use program::text::{InstrText, registers};

/// Effect of an instruction on loaded values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstructionKind {
    Load,
    /// Copies from global to shared memory; the number is bytes per lane.
    Copy(u32),
    /// Closes a group of copies.
    Commit,
    /// Waits for all groups but the given number of newest ones.
    WaitGroups(usize),
    /// Waits for all copies.
    WaitAll,
    /// Synchronises all threads of the block.
    Barrier,
    /// Synchronises some threads of the block.
    OtherBarrier,
    /// Moves its operands without using them.
    Pass,
    /// Uses its operands, without a multiply-add.
    Use,
    /// Uses its operands in a multiply-add.
    MultiplyAdd,
}

/// Registers are numbered in the order of their first appearance.
#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) kind: InstructionKind,
    pub(super) guarded: bool,
    pub(super) written: Vec<usize>,
    pub(super) read: Vec<usize>,
}

impl Instruction {
    /// Reads a text; `names` numbers the registers.
    pub(super) fn read(text: &str, names: &mut HashMap<String, usize>) -> Self {
        let text = InstrText::new(text);
        let mut all = |texts: &[&str]| -> Vec<usize> {
            let registers = texts.iter().flat_map(|text| registers(text));
            let number = |name: &str| {
                let next = names.len();
                *names.entry(name.to_owned()).or_insert(next)
            };
            registers.map(number).collect()
        };
        let (set, others) = text.set_and_read();
        let kind = kind(text.mnemonic, &text.operands);
        let (written, mut read) = (all(&[set]), all(others));
        // The instruction needs its guard before it can begin.
        if kind != InstructionKind::Pass {
            read.extend(all(text.guard.as_slice()));
        }
        Self { kind, guarded: text.guard.is_some(), written, read }
    }
}

fn kind(operation: &str, operands: &[&str]) -> InstructionKind {
    let parts: Vec<&str> = operation.split('.').collect();
    let floats = parts.last().is_some_and(|kind| kind.starts_with('f') || kind.starts_with("bf"));
    match parts.as_slice() {
        ["cp", "async", "commit_group", ..] => InstructionKind::Commit,
        ["cp", "async", "wait_all", ..] => InstructionKind::WaitAll,
        ["cp", "async", "wait_group", ..] => {
            InstructionKind::WaitGroups(operands.first().and_then(|n| n.parse().ok()).unwrap_or(0))
        }
        ["cp", "async", ..] => InstructionKind::Copy(operands.get(2).and_then(|n| n.parse().ok()).unwrap_or(0)),
        // Lanes of one warp only.
        ["bar", "warp", ..] => InstructionKind::Use,
        ["bar" | "barrier", ..] => match operands {
            ["0"] | [_, "0", _] if parts.iter().all(|part| *part != "arrive") => InstructionKind::Barrier,
            _ => InstructionKind::OtherBarrier,
        },
        ["mbarrier", ..] => InstructionKind::OtherBarrier,
        ["ld" | "atom", ..] if !matches!(parts.get(1), Some(&"param" | &"shared" | &"local" | &"const")) => {
            InstructionKind::Load
        }
        ["fma" | "mad", ..] if floats => InstructionKind::MultiplyAdd,
        [
            "mov" | "selp" | "cvt" | "cvta" | "add" | "sub" | "mul" | "mad" | "neg" | "abs" | "and" | "or" | "xor"
            | "not" | "shl" | "shr" | "prmt" | "bfe" | "bfi" | "min" | "max" | "shf" | "lop3",
            ..,
        ] => InstructionKind::Pass,
        _ => InstructionKind::Use,
    }
}
