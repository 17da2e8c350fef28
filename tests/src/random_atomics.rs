//! Random kernels whose blocks meet on few words of global memory: whatever the mix of atomics, the answer must be
//! the same on any number of threads.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

pub const BLOCK: u32 = 64;
/// Blocks: enough that a launch is spread over several threads.
pub const GRID: u32 = 48;
/// 64-bit words of each buffer that blocks meet on.
pub const WORDS: usize = 4;
pub const BUFFERS: usize = 3;

/// Accesses of blocks to words that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Atomics, plain stores to words of the thread's own.
    Defined,
    /// Also plain loads and stores of shared words: nothing defines what comes of it.
    Racing,
}

const INTEGERS: [&str; 8] = ["add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"];
const WIDE: [&str; 7] = ["add.u64", "min.s64", "max.s64", "min.u64", "and.b64", "or.b64", "xor.b64"];
const RARE: [&str; 6] = ["inc.u32", "dec.u32", "exch.b32", "add.f32", "add.s32", "cas.b32"];

/// Returns a kernel: parameters are [`BUFFERS`] pointers, a pointer to one 64-bit word per thread, and a 32-bit bound.
pub fn kernel(seed: u64, mix: Mix) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xA70_31C5);
    let mut text = include_str!("random_atomics.ptx").to_owned();
    // Which word a thread works on, and which blocks take part.
    let _ = writeln!(
        text,
        "\tand.b32 %r5, %r3, {};\n\tmul.wide.u32 %d6, %r5, 8;\n\tadd.s64 %d7, %d0, %d6;\n\tadd.s64 %d8, %d1, %d6;\n\
         \tand.b32 %r6, %r1, 1;\n\tsetp.eq.u32 %p1, %r6, 0;\n\tsetp.lt.u32 %p2, %r1, {};\n\tsetp.eq.u32 %p3, %r5, 1;",
        WORDS - 1,
        rng.random_range(1..GRID),
    );
    let repeats = rng.random_bool(0.3);
    if repeats {
        let _ = writeln!(text, "\tmov.u32 %r11, {};\n$L_again:", rng.random_range(2..5u32));
    }
    // Few forms per kernel: only then do some of them commute.
    let forms: Vec<&str> = (0..rng.random_range(1..4u32)).map(|_| form(&mut rng)).collect();
    for _ in 0..rng.random_range(1..7u32) {
        let form = forms[rng.random_range(0..forms.len())];
        let guard = ["", "", "@%p1 ", "@!%p1 ", "@%p2 ", "@!%p2 ", "@%p3 "][rng.random_range(0..7usize)];
        let wide = form.ends_with("64");
        let address = address(&mut rng, wide);
        let any = rng.random_range(0..12u32);
        let line = match (mix, any) {
            (Mix::Racing, 0 | 1) => format!("{guard}st.global.u32 {address}, %r3;"),
            (Mix::Racing, 2) => format!("{guard}ld.global.u32 %r12, {address};\n\txor.b32 %r10, %r10, %r12;"),
            (_, 3) => format!("{guard}st.global.u32 [%d3], %r{};", rng.random_range(1..6u32)),
            (_, 4) if rng.random_bool(0.2) => "membar.gl;".to_owned(),
            (_, 5) if rng.random_bool(0.2) => format!("{guard}st.volatile.global.u32 {address}, %r3;"),
            (_, 6) if rng.random_bool(0.2) => {
                format!("{guard}ld.volatile.global.u32 %r12, {address};\n\txor.b32 %r10, %r10, %r12;")
            }
            _ => atomic(&mut rng, form, guard, &address),
        };
        let _ = writeln!(text, "\t{line}");
    }
    if repeats {
        text.push_str("\tadd.u32 %r11, %r11, -1;\n\tsetp.ne.u32 %p4, %r11, 0;\n\t@%p4 bra $L_again;\n");
    }
    text.push_str("\tst.global.u32 [%d3+4], %r10;\n\tret;\n}\n");
    text
}

fn form(rng: &mut ChaCha8Rng) -> &'static str {
    match rng.random_range(0..10u32) {
        0..5 => INTEGERS[rng.random_range(0..INTEGERS.len())],
        5..8 => WIDE[rng.random_range(0..WIDE.len())],
        _ => RARE[rng.random_range(0..RARE.len())],
    }
}

/// Returns a fixed word, or one that depends on the thread; a half of it where that is enough.
fn address(rng: &mut ChaCha8Rng, wide: bool) -> String {
    let half = if wide { 0 } else { 4 * rng.random_range(0..2u32) };
    match rng.random_range(0..6u32) {
        0 => format!("[%d7+{half}]"),
        1 => format!("[%d8+{half}]"),
        n => format!("[%d{}+{}]", n % 3, 8 * rng.random_range(0..WORDS as u32) + half),
    }
}

fn atomic(rng: &mut ChaCha8Rng, form: &str, guard: &str, address: &str) -> String {
    let operand = match form {
        _ if form.ends_with("64") => ["%d5", "%d4", "1"][rng.random_range(0..3usize)],
        "add.f32" => "%f1",
        "inc.u32" | "dec.u32" => ["7", "7", "100", "%r9", "%r5"][rng.random_range(0..5usize)],
        "cas.b32" => "0, %r3",
        _ => ["%r3", "%r2", "%r1", "5"][rng.random_range(0..4usize)],
    };
    let register = if form.ends_with("64") { "%d20" } else { "%r20" };
    let returns = form.starts_with("exch") || form.starts_with("cas") || rng.random_bool(0.15);
    match (returns, rng.random_bool(0.2)) {
        (false, _) => format!("{guard}red.global.{form} {address}, {operand};"),
        // The old value shows in the result now and then.
        (true, true) if form.ends_with("32") && !form.ends_with("f32") => {
            format!("{guard}atom.global.{form} %r20, {address}, {operand};\n\t{guard}xor.b32 %r10, %r10, %r20;")
        }
        (true, _) => {
            let register = if form.ends_with("f32") { "%f2" } else { register };
            format!("{guard}atom.global.{form} {register}, {address}, {operand};")
        }
    }
}

/// Returns the words at the start, and where the buffers of a launch begin in one piece of memory (in 64-bit words):
/// apart, or some of them the same or overlapping.
pub fn buffers(seed: u64) -> (Vec<u64>, [usize; BUFFERS]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xB0FF_E125);
    let start = (0..WORDS * BUFFERS).map(|_| rng.random::<u64>() >> rng.random_range(0..64u32)).collect();
    let places = match rng.random_range(0..3u32) {
        0 => [0, WORDS, 2 * WORDS],
        1 => [0, 0, WORDS],
        _ => [0, 1, 2 * WORDS],
    };
    (start, places)
}
