//! Table of every known PTX instruction, supported or not: one row per form or group of forms.
//!
//! The rows lie in text files, `table/*.txt`: a section of the PTX manual, and below it for each row its pattern, its
//! operands (`-` for none) and its effect, in columns with two spaces or more between them. `!` gives the reason for
//! which the following rows are refused, and `#` begins a comment.
//!
//! A row's pattern is an instruction with its alternatives written out: `{.a,.b}` is one of them, `{,.a,.b}` is one of
//! them or none, and `.*` (only in refused rows) is any modifiers. The order is that of the manual's sections. The
//! effect of an instruction is for people who read the file.

mod pattern;

use crate::ast::{Instruction, Item, Module, Statement, Type};
use crate::error::{CheckError, ParseError, Unsupported};
use pattern::Pattern;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

use strsim::levenshtein;

/// A form of an instruction, or a group of forms that differ in modifiers only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The mnemonics of the row, alternatives in braces: `add{,.sat}.s32`.
    pub pattern: &'static str,
    /// `d, a, b`; operands in braces are optional.
    pub operands: &'static str,
    /// Section of the PTX manual, such as `Integer arithmetic: add`.
    pub section: &'static str,
    pub support: Support,
}

/// Whether a form runs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Supported,
    /// Refused when a module is loaded, for this reason.
    Refused(&'static str),
}

/// The rows as text. Supported rows stand before refused ones, so that a wide pattern only catches what is left. With
/// `scalar`, some that the compiler of learners' kernels does not write are unknown.
const TEXTS: &[&str] = &[
    include_str!("table/integer.txt"),
    include_str!("table/float.txt"),
    #[cfg(not(feature = "scalar"))]
    include_str!("table/half.txt"),
    include_str!("table/compare.txt"),
    include_str!("table/convert.txt"),
    include_str!("table/memory.txt"),
    include_str!("table/control.txt"),
    #[cfg(not(feature = "scalar"))]
    include_str!("table/tensor.txt"),
    #[cfg(not(feature = "scalar"))]
    include_str!("table/matrix.txt"),
    #[cfg(not(feature = "scalar"))]
    include_str!("table/refused.txt"),
];

struct Table {
    rows: Vec<Row>,
    /// Parsed patterns of the rows, filled on demand: a module uses a few opcodes only.
    readings: Vec<OnceLock<Reading>>,
    /// Places of an opcode's rows.
    opcodes: HashMap<&'static str, Vec<usize>>,
}

/// A parsed pattern, with the number of operands that it takes.
struct Reading {
    pattern: Pattern,
    arity: RangeInclusive<usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { rows: Vec::new(), readings: Vec::new(), opcodes: HashMap::new() };
    let (mut section, mut support) = ("", Support::Supported);
    for line in TEXTS.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(why) = line.strip_prefix("! ") {
            support = Support::Refused(why);
        } else if let Some(row) = line.strip_prefix("    ") {
            let mut columns = row.split("  ").map(str::trim).filter(|column| !column.is_empty());
            let (Some(pattern), Some(operands)) = (columns.next(), columns.next()) else { continue };
            let operands = if operands == "-" { "" } else { operands };
            table.opcodes.entry(pattern::opcode(pattern)).or_default().push(table.rows.len());
            table.readings.push(OnceLock::new());
            table.rows.push(Row { pattern, operands, section, support });
        } else {
            section = line;
        }
    }
    table
});

impl Table {
    fn reading(&self, at: usize) -> &Reading {
        self.readings[at]
            .get_or_init(|| Reading { pattern: Pattern::new(self.rows[at].pattern), arity: self.rows[at].arity() })
    }
}

/// Returns all rows, in the order of the manual; refused ones come last.
pub fn rows() -> &'static [Row] {
    &TABLE.rows
}

/// Looks up the row of an instruction: by modifiers, and among several such rows by the number of operands.
pub fn lookup(instruction: &Instruction) -> Option<&'static Row> {
    let (opcode, n_operands) = (instruction.opcode.as_str(), instruction.operands.len());
    let as_written = best(opcode, &words(instruction), n_operands);
    if as_written.is_some_and(Row::is_supported) {
        return as_written;
    }
    // A refused row may stand for any modifiers, also for those of a supported one in another order.
    let arranged = arranged(instruction).and_then(|words| best(opcode, &words, n_operands));
    arranged.or(as_written)
}

fn words(instruction: &Instruction) -> Vec<&str> {
    instruction.modifiers.iter().map(String::as_str).collect()
}

/// Returns the modifiers in the manual's order, when they are written in another one. ptxas takes any
/// (`div.ftz.rn.f32`, `setp.f32.lt`, `ldmatrix.sync.aligned.x4.m8n8.shared.b16`) as long as types, layouts and state
/// spaces each keep their order, and words that name the operation follow the opcode.
fn arranged(instruction: &Instruction) -> Option<Vec<&'static str>> {
    let words = words(instruction);
    let (ordered, others): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| class(word).is_some());
    let class_of = |wanted| {
        let of_class = move |word: &&str| class(word) == Some(wanted);
        ordered.iter().copied().filter(of_class).collect::<Vec<&str>>()
    };
    let classes = [Class::Type, Class::Layout, Class::Space].map(class_of);
    let rows = TABLE.opcodes.get(instruction.opcode.as_str())?;
    rows.iter()
        .filter(|&&at| TABLE.rows[at].is_supported())
        .find_map(|&at| TABLE.reading(at).pattern.arrange(&classes, &others))
        .filter(|found| found.iter().zip(&words).all(|(a, b)| a == b || !(is_name(a) || is_name(b))))
}

/// Class of modifiers that describe several operands, one after another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Type,
    Layout,
    Space,
}

fn class(word: &str) -> Option<Class> {
    match word {
        "u16x2" | "s16x2" | "tf32" | "e4m3" | "e5m2" | "s4" | "u4" | "b1" => Some(Class::Type),
        "row" | "col" => Some(Class::Layout),
        "global" | "shared" | "shared::cta" | "shared::cluster" => Some(Class::Space),
        _ => Type::from_name(word).map(|_| Class::Type),
    }
}

/// Returns whether a modifier is part of the instruction's name, which has one place only.
fn is_name(word: &str) -> bool {
    matches!(
        word,
        "lo" | "hi" | "wide" | "l" | "r" // integers
            | "mma" | "mma_async" | "sp" | "sp::ordered_metadata" | "load" | "store" | "a" | "b" | "c" | "d" | "fence" // matrices
            | "async" | "bulk" | "reduce" | "tensor" | "prefetch" | "commit_group" | "wait_group" // copies
            | "init" | "inval" | "arrive" | "arrive_drop" | "expect_tx" | "complete_tx" | "noComplete" | "parity"
            | "test_wait" | "try_wait" | "pending_count" | "mbarrier" | "noinc" // barriers in shared memory
            | "proxy" | "mbarrier_init" | "wait" // fences, barriers of a cluster
    )
}

/// Sorts the modifiers of every instruction into the manual's order.
pub fn canonicalise(module: &mut Module) {
    for item in &mut module.items {
        if let Item::Function(function) = item {
            canonicalise_statements(function.body.as_deref_mut().unwrap_or_default());
        }
    }
}

fn canonicalise_statements(statements: &mut [Statement]) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => {
                let as_written = words(instruction);
                let is_supported = |at: usize| TABLE.rows[at].is_supported();
                if !places(&instruction.opcode, &as_written).any(is_supported)
                    && let Some(arranged) = arranged(instruction)
                {
                    instruction.modifiers = arranged.into_iter().map(str::to_owned).collect();
                }
            }
            Statement::Block(inner) => canonicalise_statements(inner),
            _ => {}
        }
    }
}

/// Returns the first matching row that takes as many operands, or the first one at all.
fn best(opcode: &str, modifiers: &[&str], n_operands: usize) -> Option<&'static Row> {
    let mut found = None;
    for at in places(opcode, modifiers) {
        if TABLE.reading(at).arity.contains(&n_operands) {
            return Some(&TABLE.rows[at]);
        }
        found = found.or(Some(&TABLE.rows[at]));
    }
    found
}

fn matching<'a>(opcode: &str, modifiers: &'a [&str]) -> impl Iterator<Item = &'static Row> + use<'a> {
    places(opcode, modifiers).map(|at| &TABLE.rows[at])
}

fn places<'a>(opcode: &str, modifiers: &'a [&str]) -> impl Iterator<Item = usize> + use<'a> {
    let rows = TABLE.opcodes.get(opcode).map_or(&[][..], Vec::as_slice);
    rows.iter().copied().filter(move |&at| TABLE.reading(at).pattern.matches(modifiers))
}

/// Lists every mnemonic that a pattern stands for, in order. `.*` stands for nothing here.
pub fn expand(pattern: &str) -> Vec<String> {
    pattern::expand(pattern)
}

impl Row {
    pub fn arity(&self) -> RangeInclusive<usize> {
        pattern::arity(self.operands)
    }

    /// Returns the number of mnemonics that the pattern stands for.
    pub fn n_forms(&self) -> u64 {
        Pattern::new(self.pattern).n_forms()
    }

    pub fn is_supported(&self) -> bool {
        self.support == Support::Supported
    }
}

/// Refusals that one check reports; more would not be read.
const MAX_REFUSALS: usize = 50;

/// Looks every instruction of a module up. An error is a [`ParseError`] for the first one that does not exist or has
/// too few or too many operands; where there is none, all that are not emulated.
pub fn check(module: &Module) -> Result<(), CheckError> {
    let (mut refused, mut places) = (Vec::new(), HashSet::new());
    for item in &module.items {
        if let Item::Function(function) = item {
            check_statements(function.body.as_deref().unwrap_or_default(), &mut refused, &mut places)?;
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    Err(CheckError::Unsupported(refused))
}

/// `places` are those of the `.loc` lines so far.
fn check_statements(
    statements: &[Statement], refused: &mut Vec<Unsupported>, places: &mut HashSet<[u32; 3]>,
) -> Result<(), ParseError> {
    for (at, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Instruction(instruction) => {
                let row = check_instruction(instruction)?;
                if let Support::Refused(why) = row.support
                    && refused.len() < MAX_REFUSALS
                {
                    refused.push(Unsupported {
                        span: instruction.span,
                        what: format!("`{}` ({why})", crate::lex::clip(&instruction.mnemonic())),
                    });
                }
            }
            Statement::Loc(loc) => {
                places.insert([loc.file, loc.line, loc.column]);
                if let Some(call) = &loc.inlined_at
                    && !places.contains(&[call.file, call.line, call.column])
                {
                    let next = statements[at..].iter().find_map(|one| match one {
                        Statement::Instruction(instruction) => Some(instruction.span),
                        _ => None,
                    });
                    let span = next.unwrap_or_default();
                    let message = format!("`{loc}` is inlined at a place that no `.loc` before it has");
                    return Err(ParseError { span, message });
                }
            }
            Statement::Block(inner) => check_statements(inner, refused, places)?,
            _ => {}
        }
    }
    Ok(())
}

/// Looks one instruction up. Fails when it does not exist, or is supported and has too few or too many operands.
pub fn check_instruction(instruction: &Instruction) -> Result<&'static Row, ParseError> {
    let Some(row) = lookup(instruction) else { return Err(unknown(instruction)) };
    let (arity, found) = (row.arity(), instruction.operands.len());
    if !row.is_supported() || arity.contains(&found) {
        return Ok(row);
    }
    let counts = match (*arity.start(), *arity.end()) {
        (0, 0) => "no operands".to_owned(),
        (1, 1) => format!("1 operand ({})", row.operands),
        (least, most) if least == most => format!("{least} operands ({})", row.operands),
        (least, most) => format!("{least} to {most} operands ({})", row.operands),
    };
    Err(ParseError {
        span: instruction.span,
        message: format!("`{}` takes {counts}, found {found}", instruction.mnemonic()),
    })
}

fn unknown(instruction: &Instruction) -> ParseError {
    let mnemonic = instruction.mnemonic();
    let hint = match nearest(instruction) {
        _ if instruction.opcode == "st" && instruction.has("const") => {
            "; a kernel cannot store to constant memory".to_owned()
        }
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    let message = format!("unknown instruction `{}`{hint}", crate::lex::clip(&mnemonic));
    ParseError { span: instruction.span, message }
}

/// Finds a similar mnemonic: another opcode, or one modifier changed, added, moved or left out. For errors only: slow.
fn nearest(instruction: &Instruction) -> Option<String> {
    if instruction.modifiers.len() > 12 || instruction.opcode.len() > 40 {
        return None;
    }
    let modifiers = words(instruction);
    let written = instruction.mnemonic();
    let mut tries: Vec<String> = Vec::new();
    let mut consider = |opcode: &str, modifiers: &[&str]| {
        if matching(opcode, modifiers).any(Row::is_supported) {
            tries.push([&[opcode][..], modifiers].concat().join("."));
        }
    };
    match TABLE.opcodes.get(instruction.opcode.as_str()) {
        Some(rows) => {
            let opcode = instruction.opcode.as_str();
            let mut words: Vec<&str> = rows.iter().flat_map(|&at| TABLE.reading(at).pattern.words()).collect();
            words.sort_unstable();
            words.dedup();
            for at in 0..=modifiers.len() {
                let (before, rest) = modifiers.split_at(at);
                for word in &words {
                    consider(opcode, &[before, &[*word], rest].concat());
                    if let Some(rest) = rest.get(1..) {
                        consider(opcode, &[before, &[*word], rest].concat());
                    }
                }
                if let [first, second, rest @ ..] = rest {
                    consider(opcode, &[before, &[*second, *first], rest].concat());
                }
                if let Some(rest) = rest.get(1..) {
                    consider(opcode, &[before, rest].concat());
                }
            }
        }
        None => TABLE.opcodes.keys().for_each(|opcode| consider(opcode, &modifiers)),
    }
    let budget = if instruction.opcode.len() > 3 { 2 } else { 1 };
    tries
        .into_iter()
        .map(|near| (levenshtein(&written, &near), !near.contains(".rn."), near))
        .filter(|(distance, ..)| TABLE.opcodes.contains_key(instruction.opcode.as_str()) || *distance <= budget)
        .min()
        .map(|(.., near)| near)
}

#[cfg(test)]
mod tests;
