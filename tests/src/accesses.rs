//! Small kernels with one kind of memory access each, to compare counters with those of a real GPU.
//!
//! [`module`] is their PTX. Every kernel takes the address of [`BYTES`] zero bytes and is launched once, as one block
//! of 32 threads. `tests/tools/accesses_on_device.rs` launches them, under Nsight Compute for the answers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

/// Size of the buffer that every kernel takes.
pub const BYTES: usize = 1 << 20;
pub const BLOCK: u32 = 32;

#[derive(Debug, Clone)]
pub struct Kernel {
    /// Entry point: group, operation and pattern.
    pub name: String,
    body: String,
}

/// The element that each lane accesses: `(lane * times >> shift & mask) * step + start`, for the lanes of `lanes`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pattern {
    times: u32,
    shift: u32,
    mask: u32,
    step: u32,
    start: u32,
    lanes: u32,
}

impl Default for Pattern {
    fn default() -> Self {
        Self { times: 1, shift: 0, mask: 31, step: 1, start: 0, lanes: u32::MAX }
    }
}

/// Words of [`BODIES`].
#[derive(Deserialize)]
struct Vocabulary {
    abbreviations: BTreeMap<String, String>,
    patterns: BTreeMap<String, Pattern>,
    sets: BTreeMap<String, Vec<String>>,
}

/// Bodies of the kernels, one a line; the head of the file describes them.
const BODIES: &str = include_str!("../data/accesses.txt");

pub fn kernels() -> Vec<Kernel> {
    let vocabulary = toml::from_str(include_str!("../data/accesses.toml")).expect("a vocabulary");
    let lines = BODIES.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| kernels_of_line(line, &vocabulary)).collect()
}

fn kernels_of_line(line: &str, Vocabulary { abbreviations, patterns, sets }: &Vocabulary) -> Vec<Kernel> {
    let (head, body) = line.split_once(": ").expect("a name and a body");
    let [name, bytes, set] = head.split(' ').collect::<Vec<_>>()[..] else {
        let body = abbreviations.iter().fold(body.to_owned(), |text, (short, long)| text.replace(short, long));
        return vec![Kernel { name: head.to_owned(), body }];
    };
    let bytes = bytes.parse().expect("the size of an element");
    let kernel = |pattern: &String| Kernel {
        name: format!("{name}_{pattern}"),
        body: with_pattern(name.starts_with("global_"), body, bytes, &patterns[pattern]),
    };
    sets[set].iter().map(kernel).collect()
}

fn with_pattern(global: bool, text: &str, bytes: u32, p: &Pattern) -> String {
    let mut body =
        format!("mul.lo.u32 %r0, %lane, {}; shr.u32 %r0, %r0, {}; and.b32 %r0, %r0, {};\n", p.times, p.shift, p.mask);
    let (step, start) = (p.step * bytes, p.start * bytes);
    let (wide, bits, address, base) =
        if global { ("wide", "u64", "%x0", "%data") } else { ("lo", "u32", "%r0", "%tile") };
    let _ = writeln!(body, "mad.{wide}.u32 {address}, %r0, {step}, {base}; add.{bits} {address}, {address}, {start};");
    let text = text.replace("{a}", address);
    if p.lanes == u32::MAX {
        body.push_str(&text);
    } else {
        let _ = write!(
            body,
            "mov.u32 %r2, {}; shr.u32 %r2, %r2, %lane; and.b32 %r2, %r2, 1; setp.eq.u32 %p3, %r2, 0;\n\
             @%p3 bra off; {text} off:",
            p.lanes
        );
    }
    body
}

pub fn module<'a>(kernels: impl IntoIterator<Item = &'a Kernel>) -> String {
    let mut text = String::from(".version 8.4\n.target sm_90\n.address_size 64\n.const .align 4 .b8 table[256];\n");
    for Kernel { name, body, .. } in kernels {
        let _ = write!(text, ".visible .entry {name}(.param .u64 data)\n{{\n{HEAD}{body}\nret;\n}}\n");
    }
    text
}

/// Start of each kernel: registers, and addresses in them. `%lane`; values `%v`, `%n`, `%w`, `%f0`, `%d0`, `%h0`; `%gN`
/// and `%sN`, the addresses of the lane's N bytes in global and shared memory; `%p0`, lanes 0 to 15; `%p1`, odd lanes;
/// `%out`, the address of the lane's result.
const HEAD: &str = include_str!("accesses.ptx");
