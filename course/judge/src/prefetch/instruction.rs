//! Instructions parsed from their text: the effect on loaded values, and the registers.

use std::collections::HashMap;

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
    /// Parses a text such as `@%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`
    pub(super) fn read(text: &str, names: &mut HashMap<String, usize>) -> Self {
        let text = text.trim().trim_end_matches(';');
        let (guard, text) = match text.strip_prefix('@') {
            Some(rest) => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            None => ("", text),
        };
        let (operation, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let operands = operands(rest);
        let mut register = |name: &str| {
            let next = names.len();
            *names.entry(name.to_owned()).or_insert(next)
        };
        let mut all = |texts: &[&str]| -> Vec<usize> {
            texts.iter().flat_map(|text| registers(text)).map(&mut register).collect()
        };
        let kind = kind(operation, &operands);
        let writes =
            !matches!(
                kind,
                InstructionKind::Commit
                    | InstructionKind::WaitGroups(_)
                    | InstructionKind::WaitAll
                    | InstructionKind::Copy(_)
            ) && !["st.", "red.", "bar", "bra", "brx", "ret", "exit", "membar", "fence", "prefetch", "call", "trap"]
                .iter()
                .any(|start| operation.starts_with(start));
        let (written, mut read) = match operands.split_first() {
            Some((first, others)) if writes => (all(&[first]), all(others)),
            _ => (Vec::new(), all(&operands)),
        };
        // The instruction needs its guard before it can begin.
        if kind != InstructionKind::Pass {
            read.extend(all(&[guard]));
        }
        Self { kind, guarded: !guard.is_empty(), written, read }
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

/// Splits operands at commas outside of braces and brackets.
fn operands(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found.retain(|operand| !operand.is_empty());
    found
}

fn registers(operand: &str) -> impl Iterator<Item = &str> {
    operand.match_indices('%').map(|(at, _)| {
        let rest = &operand[at..];
        let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |end| end + 1);
        &rest[..end]
    })
}
