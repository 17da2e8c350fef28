//! From the instruction table to the list of all fixtures.

use ptx::ast::Type;
use ptx::table::{Row, Support, rows};

use super::{Fixture, alu, chains, machine, memory};

/// Most forms of a row for which all are tried; of rows with more, each alternative occurs at least once.
const ALL_FORMS: usize = 400;
/// Most forms of a row of memory accesses for which all are tried: their qualifiers change no result.
const ALL_ACCESSES: usize = 30;

pub fn fixtures() -> Vec<Fixture> {
    let mut list: Vec<Fixture> = Vec::new();
    let wanted = |row: &&Row| row.support == Support::Supported && !is_elsewhere(row);
    for row in rows().iter().filter(wanted) {
        for mnemonic in forms(row.pattern) {
            list.extend(of(row, &mnemonic));
        }
    }
    let mut seen = std::collections::HashSet::new();
    list.retain(|fixture| seen.insert(fixture.name.clone()) && refused_by_ptxas(&fixture.name).is_none());
    list
}

/// Opcodes and first modifiers of rows that have no fixture: those that need barriers in shared memory, tensor maps or
/// clusters, which `it/tensor.rs` and `it/steps.rs` run, those of tensor cores, which `it/mma.rs` and `it/wgmma.rs`
/// run, and those of dependent launches, which the tests of `nvcuda` run.
#[rustfmt::skip]
const ELSEWHERE: [&str; 17] = [
    "barrier.cluster", "mapa", "getctarank", "wmma", "ldmatrix", "mma", "movmatrix", "stmatrix", "mbarrier",
    "cp.async.bulk", "cp.async.mbarrier", "fence.proxy", "fence.mbarrier_init", "setmaxnreg", "wgmma",
    "prefetch{,.param,.const}.tensormap", "griddepcontrol",
];

fn is_elsewhere(row: &Row) -> bool {
    ELSEWHERE.iter().any(|start| row.pattern.starts_with(start))
}

pub fn missing() -> Vec<&'static Row> {
    let list = fixtures();
    let has = |row: &Row| {
        if is_elsewhere(row) {
            return true;
        }
        list.iter().any(|f| f.row == row.pattern && f.section == row.section)
    };
    rows().iter().filter(|row| row.support == Support::Supported && !has(row)).collect()
}

fn of(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let makers: [fn(&Row, &str) -> Vec<Fixture>; 3] = [memory::fixtures, machine::fixtures, alu::fixtures];
    let made = makers.iter().map(|make| make(row, mnemonic)).find(|made| !made.is_empty());
    let mut made = made.unwrap_or_default();
    made.extend(chains::fixtures(row, mnemonic));
    made
}

/// Returns why a form has no fixture although the table's pattern spells it: the message of NVIDIA's assembler.
///
/// Patterns of the table are generous where that harms nobody; these are the combinations that do not exist.
fn refused_by_ptxas(name: &str) -> Option<&'static str> {
    let (mnemonic, variant) = name.split_once('#').unwrap_or((name, ""));
    let words: Vec<&str> = mnemonic.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let types: Vec<Type> = words.iter().filter_map(|w| Type::from_name(w)).collect();
    match words[0] {
        "ld" | "st" | "atom" | "red" => {
            #[rustfmt::skip]
            let own_space = [
                "const", "local", "param", "param::func", "param::entry", "shared", "shared::cta",
                "shared::cluster",
            ];
            let beyond = words.iter().any(|w| w.starts_with("L1::") || w.starts_with("L2::"));
            if own_space.iter().any(|s| has(s)) && beyond {
                return Some("cache levels belong to global memory");
            }
            if words.iter().any(|w| w.starts_with("L2::evict")) {
                return Some("an L2 priority needs 32 bytes per thread, which came with PTX 8.8");
            }
            if has("volatile") && ["const", "local", "param"].iter().any(|s| has(s)) {
                return Some("volatile is for memory that is shared");
            }
            if has("b16") && has("L2::cache_hint") {
                return Some("no hints for 16 bits");
            }
            (has("add") && has("s64")).then_some("sums of s64 are spelled u64")
        }
        "sub" if has("u16x2") || has("s16x2") => Some("not before PTX 9.2"),
        "cvt" if types.len() == 2 => {
            let (to, from) = (types[0], types[1]);
            if has("sat") && range(to).zip(range(from)).is_some_and(|(to, from)| to.0 <= from.0 && from.1 <= to.1) {
                return Some("a conversion that always fits does not saturate");
            }
            let pair = [(to, from), (from, to)];
            let single_bytes = |&(bf16, other): &(Type, Type)| {
                bf16 == Type::Bf16 && range(other).is_some() && (other.bytes() == 1 || !variant.is_empty())
            };
            if pair.iter().any(single_bytes) {
                return Some("no bf16 from or to single bytes, or parts of registers");
            }
            if has("sat") && (to, from) == (Type::F32, Type::Bf16) {
                return Some("not before PTX 9.1");
            }
            (has("ftz") && types.iter().all(|t| *t != Type::F32)).then_some("flushes f32 only")
        }
        _ => None,
    }
}

fn range(ty: Type) -> Option<(i128, i128)> {
    let bits = 8 * ty.bytes();
    match ty {
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => Some((0, (1 << bits) - 1)),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

/// Returns all mnemonics of a pattern, or for long patterns a selection that uses each alternative.
fn forms(pattern: &str) -> Vec<String> {
    let slots = slots(pattern);
    let total: usize = slots.iter().map(Vec::len).product();
    // The first alternatives, except for those of some slots.
    let spell = |others: &[(usize, usize)]| {
        let of = |at| others.iter().find(|(slot, _)| *slot == at).map_or(0, |(_, alternative)| *alternative);
        slots.iter().enumerate().map(|(at, slot)| slot[of(at)]).collect::<String>()
    };
    let access = ["ld", "st", "atom", "red", "ldu"].contains(&pattern.split(['.', '{']).next().unwrap_or_default());
    if total <= if access { ALL_ACCESSES } else { ALL_FORMS } {
        let form = |mut number: usize| {
            let mut digit = |at: usize| {
                let alternative = number % slots[at].len();
                number /= slots[at].len();
                (at, alternative)
            };
            spell(&(0..slots.len()).rev().map(&mut digit).collect::<Vec<_>>())
        };
        return (0..total).map(form).collect();
    }
    let mut out = vec![spell(&[])];
    for (k, slot) in slots.iter().enumerate() {
        out.extend((1..slot.len()).map(|alternative| spell(&[(k, alternative)])));
    }
    // Spaces and vectors matter to every type.
    let important = |slot: &Vec<&str>| slot.iter().any(|a| [".shared", ".v2"].contains(a));
    if let Some(types) = slots.iter().rposition(|slot| slot.len() > 1) {
        for k in (0..types).filter(|&k| important(&slots[k])) {
            for alternative in 1..slots[k].len() {
                out.extend((1..slots[types].len()).map(|ty| spell(&[(k, alternative), (types, ty)])));
            }
        }
    }
    out
}

/// Splits a pattern: `add{,.sat}.s32` is `[["add"], ["", ".sat"], [".s32"]]`.
fn slots(pattern: &str) -> Vec<Vec<&str>> {
    let mut slots = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, behind) = after.split_once('}').unwrap_or((after, ""));
        if !before.is_empty() {
            slots.push(vec![before]);
        }
        slots.push(inside.split(',').collect());
        rest = behind;
    }
    if !rest.is_empty() {
        slots.push(vec![rest]);
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn short_patterns_give_all_forms() {
        assert_eq!(forms("add{,.sat}{.s32,.u32}"), ["add.s32", "add.u32", "add.sat.s32", "add.sat.u32"]);
    }
}
