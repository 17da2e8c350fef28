//! When what a warp loads from global memory is waited for: whether the next tile is on its way while this one is
//! multiplied.
//!
//! A warp's steps are followed in their order. What a load brings is pending until something needs the value: a store, a
//! multiply-add, an address, a branch, an exchange between lanes. Moving, selecting or converting it needs it as well, but
//! the assembler places such instructions beside the use, so here they only pass it on. An asynchronous copy is pending
//! until its group is waited for. How many multiply-adds the warp did in between is what the load had time for.

use std::collections::HashMap;

use lab::inputs::Real;
use simt::gpu::Value;
use simt::trace::Step;

use crate::machine::Machine;
use crate::trial::Trial;

/// Steps of a warp that are followed.
const MOST_STEPS: usize = 100_000;
/// Share of a tile's multiply-adds that a load must have time for.
const ENOUGH: f64 = 0.5;
/// Multiply-adds at the edges of a tile may lie on the other side of a load.
const TOLERANCE: f64 = 0.05;
/// Loads of which one value can be made; more are as old as these.
const MOST_PENDING: usize = 16;

/// Share of the bytes that a warp loads from global memory after its first multiply-add, and uses, which nothing waits
/// for until half of the multiply-adds of a tile are done. `None` when no warp of the first block both loads and
/// multiplies.
pub fn of<T: Real + Value>(machine: &Machine<'_>, trial: &Trial<T>, bk: usize) -> Option<f64> {
    let (report, first) = machine.trace(trial, 0, MOST_STEPS)?;
    let texts: Vec<&str> = report.instructions.iter().map(|i| i.text.as_str()).collect();
    let program = Program::new(&texts);
    let steps_of_k = trial.shape.k.div_ceil(bk.max(1)).max(1) as f64;
    let share = |steps: &[Step]| {
        let followed = program.follow(steps);
        followed.share(ENOUGH * (1.0 - TOLERANCE) * followed.fmas / steps_of_k)
    };
    if let Some(share) = share(&first) {
        return Some(share);
    }
    // Warps may have parts of their own.
    let n_warps = report.block.iter().product::<u32>().div_ceil(WARP);
    (1..n_warps).find_map(|warp| share(&machine.trace(trial, warp, MOST_STEPS)?.1))
}

const WARP: u32 = 32;

/// What an instruction does with values that were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Brings values from global memory.
    Load,
    /// Copies from global to shared memory, so many bytes per lane.
    Copy(u32),
    /// Closes a group of copies.
    Commit,
    /// Waits for all groups but the last so many.
    WaitGroups(usize),
    /// Waits for all copies.
    WaitAll,
    /// Passes its operands on.
    Pass,
    /// Needs its operands.
    Use,
    /// Needs its operands, and is a multiply-add.
    MultiplyAdd,
}

/// An instruction's registers, by number.
#[derive(Debug)]
struct Instruction {
    kind: Kind,
    guarded: bool,
    written: Vec<usize>,
    read: Vec<usize>,
}

#[derive(Debug)]
struct Program {
    instructions: Vec<Instruction>,
    n_registers: usize,
}

/// A load or a copy that was made.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// Multiply-adds before it.
    at: f64,
    bytes: f64,
    /// Multiply-adds until it was waited for.
    had: Option<f64>,
}

/// What following a warp gave.
#[derive(Debug)]
struct Followed {
    made: Vec<Made>,
    fmas: f64,
}

impl Followed {
    /// Share of the bytes that had time for so many multiply-adds.
    fn share(&self, enough: f64) -> Option<f64> {
        let (mut all, mut in_time) = (0.0, 0.0);
        // Before the first multiply-add there is nothing that a load could be hidden behind.
        for made in self.made.iter().filter(|made| made.at > 0.0) {
            let Some(had) = made.had else { continue };
            all += made.bytes;
            if had >= enough {
                in_time += made.bytes;
            }
        }
        (all > 0.0 && enough > 0.0).then(|| in_time / all)
    }
}

impl Program {
    fn new(texts: &[&str]) -> Self {
        let mut names = HashMap::new();
        let instructions = texts
            .iter()
            .map(|text| Instruction::read(text, &mut names))
            .collect();
        Self {
            instructions,
            n_registers: names.len(),
        }
    }

    fn follow(&self, steps: &[Step]) -> Followed {
        let mut values: Vec<Vec<usize>> = vec![Vec::new(); self.n_registers];
        let mut followed = Followed {
            made: Vec::new(),
            fmas: 0.0,
        };
        let everybody = steps.iter().fold(0, |lanes, step| lanes | step.lanes);
        // Copies that are not in a group yet, and groups that nobody has waited for.
        let mut open: Vec<usize> = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for step in steps {
            let Some(instruction) = self.instructions.get(step.instr as usize) else {
                continue;
            };
            let now = followed.fmas;
            let lanes = f64::from(step.lanes.count_ones());
            let wait = |made: &mut Vec<Made>, which: &[usize]| {
                for load in which {
                    let made = &mut made[*load];
                    made.had.get_or_insert(now - made.at);
                }
            };
            match instruction.kind {
                Kind::Load => {
                    for register in &instruction.read {
                        wait(&mut followed.made, &std::mem::take(&mut values[*register]));
                    }
                    let each = step.access.as_ref().map_or(0, |access| access.bytes);
                    // Loads of other spaces by generic addresses bring nothing from afar.
                    let is_global = step
                        .access
                        .as_ref()
                        .is_some_and(|access| access.space == simt::program::MemSpace::Global);
                    let load = followed.made.len();
                    if is_global {
                        followed.made.push(Made {
                            at: now,
                            bytes: f64::from(each) * lanes,
                            had: None,
                        });
                    }
                    for register in &instruction.written {
                        let value = &mut values[*register];
                        if step.lanes == everybody {
                            value.clear();
                        }
                        if is_global && value.len() < MOST_PENDING {
                            value.push(load);
                        }
                    }
                }
                Kind::Copy(bytes) => {
                    open.push(followed.made.len());
                    followed.made.push(Made {
                        at: now,
                        bytes: f64::from(bytes) * lanes,
                        had: None,
                    });
                }
                Kind::Commit => groups.push(std::mem::take(&mut open)),
                Kind::WaitGroups(but) => {
                    let n = groups.len().saturating_sub(but);
                    for group in groups.drain(..n) {
                        wait(&mut followed.made, &group);
                    }
                }
                Kind::WaitAll => {
                    for group in groups.drain(..).chain([std::mem::take(&mut open)]) {
                        wait(&mut followed.made, &group);
                    }
                }
                Kind::Pass => {
                    let mut passed: Vec<usize> = Vec::new();
                    for register in &instruction.read {
                        passed.extend(
                            values[*register]
                                .iter()
                                .filter(|load| followed.made[**load].had.is_none()),
                        );
                    }
                    passed.sort_unstable();
                    passed.dedup();
                    passed.truncate(MOST_PENDING);
                    let whole = step.lanes == everybody && !instruction.guarded;
                    for register in &instruction.written {
                        let value = &mut values[*register];
                        if whole {
                            value.clone_from(&passed);
                        } else {
                            value.extend(&passed);
                            value.sort_unstable();
                            value.dedup();
                            value.truncate(MOST_PENDING);
                        }
                    }
                }
                Kind::Use | Kind::MultiplyAdd => {
                    for register in &instruction.read {
                        wait(&mut followed.made, &std::mem::take(&mut values[*register]));
                    }
                    for register in &instruction.written {
                        values[*register].clear();
                    }
                    if instruction.kind == Kind::MultiplyAdd {
                        followed.fmas += lanes / f64::from(WARP);
                    }
                }
            }
        }
        followed
    }
}

impl Instruction {
    /// From its text: `@%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`
    fn read(text: &str, names: &mut HashMap<String, usize>) -> Self {
        let text = text.trim().trim_end_matches(';');
        let (guard, text) = match text.strip_prefix('@') {
            Some(rest) => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            None => ("", text),
        };
        let (operation, rest) = text
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((text.trim(), ""));
        let operands = operands(rest);
        let mut register = |name: &str| {
            let next = names.len();
            *names.entry(name.to_owned()).or_insert(next)
        };
        let mut all = |texts: &[&str]| -> Vec<usize> {
            texts
                .iter()
                .flat_map(|text| registers(text))
                .map(&mut register)
                .collect()
        };
        let kind = kind(operation, &operands);
        let writes = !matches!(
            kind,
            Kind::Commit | Kind::WaitGroups(_) | Kind::WaitAll | Kind::Copy(_)
        ) && ![
            "st.", "red.", "bar", "bra", "brx", "ret", "exit", "membar", "fence", "prefetch", "call", "trap",
        ]
        .iter()
        .any(|start| operation.starts_with(start));
        let (written, mut read) = match operands.split_first() {
            Some((first, others)) if writes => (all(&[first]), all(others)),
            _ => (Vec::new(), all(&operands)),
        };
        // A guard is needed before the instruction can begin.
        if kind != Kind::Pass {
            read.extend(all(&[guard]));
        }
        Self {
            kind,
            guarded: !guard.is_empty(),
            written,
            read,
        }
    }
}

fn kind(operation: &str, operands: &[&str]) -> Kind {
    let parts: Vec<&str> = operation.split('.').collect();
    let floats = parts
        .last()
        .is_some_and(|kind| kind.starts_with('f') || kind.starts_with("bf"));
    match parts.as_slice() {
        ["cp", "async", "commit_group", ..] => Kind::Commit,
        ["cp", "async", "wait_all", ..] => Kind::WaitAll,
        ["cp", "async", "wait_group", ..] => {
            Kind::WaitGroups(operands.first().and_then(|n| n.parse().ok()).unwrap_or(0))
        }
        ["cp", "async", ..] => Kind::Copy(operands.get(2).and_then(|n| n.parse().ok()).unwrap_or(0)),
        ["ld", ..] if !matches!(parts.get(1), Some(&"param" | &"shared" | &"local" | &"const")) => Kind::Load,
        ["fma" | "mad", ..] if floats => Kind::MultiplyAdd,
        [
            "mov" | "selp" | "cvt" | "cvta" | "add" | "sub" | "mul" | "mad" | "neg" | "abs" | "and" | "or"
            | "xor" | "not" | "shl" | "shr" | "prmt" | "bfe" | "bfi" | "min" | "max" | "ld" | "shf" | "lop3",
            ..,
        ] if parts[0] != "ld" => Kind::Pass,
        _ => Kind::Use,
    }
}

/// Operands, which commas separate outside of braces and brackets.
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

/// Names of registers in an operand.
fn registers(operand: &str) -> impl Iterator<Item = &str> {
    operand.match_indices('%').map(|(at, _)| {
        let rest = &operand[at..];
        let end = rest[1..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(rest.len(), |end| end + 1);
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::memory::rules::Addresses;
    use simt::program::MemSpace;
    use simt::trace::Access;

    /// Follows one warp through a text in which each line is done once.
    #[track_caller]
    fn share(lines: &str, enough: f64) -> Option<f64> {
        let texts: Vec<&str> = lines
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let steps: Vec<Step> = (0..)
            .zip(&texts)
            .map(|(instr, text)| Step {
                instr,
                lanes: u32::MAX,
                access: text.contains("ld.global").then(|| Access {
                    space: MemSpace::Global,
                    load: true,
                    bytes: 4,
                    addresses: Addresses::default(),
                }),
            })
            .collect();
        Program::new(&texts).follow(&steps).share(enough)
    }

    const FMA: &str = "fma.rn.f32 %f9, %f8, %f8, %f9;\n";

    #[test]
    fn a_load_that_is_stored_at_once_had_no_time() {
        let text = format!("{FMA}ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}{FMA}");
        assert_eq!(share(&text, 2.0), Some(0.0));
    }

    #[test]
    fn a_load_that_is_stored_after_the_products_had_it() {
        let text = format!(
            "{FMA}ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, %f1;\n{FMA}{FMA}selp.f32 %f3, %f2, 0f00000000, %p1;\n\
             st.shared.f32 [%r1], %f3;\n"
        );
        assert_eq!(share(&text, 2.0), Some(1.0));
        assert_eq!(share(&text, 3.0), Some(0.0));
    }

    #[test]
    fn a_copy_is_pending_until_its_group_is_waited_for() {
        let copy = "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\n";
        let late =
            format!("{FMA}{copy}{FMA}{FMA}{copy}cp.async.wait_group 1;\n{FMA}{FMA}cp.async.wait_all;\n");
        assert_eq!(share(&late, 2.0), Some(1.0));
        let at_once = format!("{FMA}{copy}cp.async.wait_group 0;\n{FMA}{FMA}{copy}cp.async.wait_group 0;\n");
        assert_eq!(share(&at_once, 2.0), Some(0.0));
    }

    #[test]
    fn what_is_loaded_before_any_product_or_never_used_does_not_count() {
        let text = format!(
            "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}ld.global.f32 %f2, [%rd1];\n"
        );
        assert_eq!(share(&text, 1.0), None);
    }

    #[test]
    fn an_overwritten_register_is_another_value() {
        let text = format!(
            "{FMA}ld.global.f32 %f1, [%rd1];\n{FMA}{FMA}st.shared.f32 [%r1], %f1;\nmov.f32 %f1, 0f00000000;\n\
             st.shared.f32 [%r1], %f1;\n"
        );
        assert_eq!(share(&text, 2.0), Some(1.0));
    }
}
