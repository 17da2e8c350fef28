//! One small kernel per instruction form, made from the instruction table, for a GPU and the emulator alike.
//!
//! Each form gets the same inputs everywhere; what a real GPU answered lies in `tests/data/conformance`. The
//! example `conformance` writes such answers, and `it/conformance.rs` compares.

mod alu;
mod answers;
mod chains;
mod compare;
mod emulated;
mod forms;
mod inputs;
mod machine;
mod memory;

use std::fmt::Write as _;

use ptx::ast::Type;

pub use answers::{Answers, answers_in, read_answers, read_code, write_answers, write_code};
pub use compare::difference;
pub use emulated::{emulate, emulate_machine_code, emulate_some_lanes};
pub use forms::{fixtures, missing};
pub use machine::{TEXTURES, TextureSource};

/// Threads of a block; every fixture's inputs fill whole blocks.
pub const BLOCK: u32 = 64;
/// Bytes of the parameter that `ld.param` reads; byte i is i + 1.
pub const BLOB: usize = 32;

#[derive(Debug, Clone)]
pub struct Fixture {
    /// The form, `fma.rn.f32`, and behind `#` a variant where there are several.
    pub name: String,
    pub row: &'static str,
    /// Section of the PTX manual that the row names.
    pub section: &'static str,
    /// Three inputs per thread; all of one length, a multiple of [`BLOCK`].
    pub inputs: [Vec<u64>; 3],
    pub outs: usize,
    pub declarations: String,
    pub body: String,
    /// The arguments of `.version` and `.target`.
    pub target: (&'static str, &'static str),
}

/// PTX ISA and architecture of nearly all fixtures.
pub const TARGET: (&str, &str) = ("8.4", "sm_90");
/// Target of the warp instructions that Volta did away with.
pub const BEFORE_VOLTA: (&str, &str) = ("6.3", "sm_60");

impl Fixture {
    pub fn threads(&self) -> usize {
        self.inputs[0].len()
    }

    /// Returns the folder-safe name of the group that its answers are kept with.
    pub fn group(&self) -> String {
        let title = self.section.split(':').next().unwrap_or_default();
        title.to_lowercase().replace(' ', "-")
    }
}

/// Returns the register class of a type: first letter of the registers of [`kernel`].
fn class(ty: Type) -> char {
    match ty.bytes() {
        0 => 'p',
        1 | 2 => 'h',
        4 => 'r',
        _ => 'd',
    }
}

/// Makes the value of a register, whose class its name tells, from 64 bits.
fn narrowed(register: &str, from: &str) -> String {
    match register.as_bytes()[1] {
        b'p' => format!("    and.b64 %d9, {from}, 1;\n    setp.ne.u64 {register}, %d9, 0;\n"),
        b'h' => format!("    cvt.u16.u64 {register}, {from};\n"),
        b'r' => format!("    cvt.u32.u64 {register}, {from};\n"),
        _ => format!("    mov.b64 {register}, {from};\n"),
    }
}

fn widened(to: &str, register: &str) -> String {
    match register.as_bytes()[1] {
        b'p' => format!("    selp.b64 {to}, 1, 0, {register};\n"),
        b'h' => format!("    cvt.u64.u16 {to}, {register};\n"),
        b'r' => format!("    cvt.u64.u32 {to}, {register};\n"),
        _ => format!("    mov.b64 {to}, {register};\n"),
    }
}

/// Returns a module with the kernels `k0`, `k1`, … of some fixtures (all of one target).
pub fn module(fixtures: &[&Fixture]) -> String {
    let (version, target) = fixtures.first().map_or(TARGET, |f| f.target);
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    for (index, fixture) in fixtures.iter().enumerate() {
        let _ = write!(text, "\n// {}\n{}", fixture.name, fixture.declarations.replace("KERNEL", &format!("k{index}")));
        text.push_str(&kernel(index, fixture));
    }
    text
}

/// Returns the declarations of the registers that bodies use: `%i` the thread's number in the grid, `%t` in the block,
/// `%A %B %C` where its inputs lie, `%O` where its results go, `%a %b %c` the inputs themselves; the rest is free.
fn kernel(index: usize, fixture: &Fixture) -> String {
    format!(
        include_str!("conformance/kernel.ptx"),
        index = index,
        blob_bytes = BLOB,
        block = BLOCK,
        out_bytes = 8 * fixture.outs,
        body = fixture.body.replace("KERNEL", &format!("k{index}")),
    )
}
