//! Small kernels with one kind of memory access each, to compare counters with those of a real GPU.
//!
//! [`module`] is their PTX. Every kernel takes the address of [`BYTES`] zero bytes and is launched once, as one block
//! of 32 threads. `tests/tools/accesses_on_device.rs` launches them, under Nsight Compute for the answers.

use std::fmt::Write as _;

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
#[derive(Debug, Clone, Copy)]
struct Pattern {
    name: &'static str,
    times: u32,
    shift: u32,
    mask: u32,
    step: u32,
    start: u32,
    lanes: u32,
}

const fn on(name: &'static str, times: u32, shift: u32, mask: u32, step: u32) -> Pattern {
    Pattern { name, times, shift, mask, step, start: 0, lanes: u32::MAX }
}

const fn lanes(pattern: Pattern, name: &'static str, lanes: u32) -> Pattern {
    Pattern { name, lanes, ..pattern }
}

const LINEAR: Pattern = on("linear", 1, 0, 31, 1);
const ONE: Pattern = on("one", 1, 5, 31, 1);
const TWO: Pattern = on("two", 1, 0, 1, 1);
const FOUR: Pattern = on("four", 1, 0, 3, 1);
const EIGHT: Pattern = on("eight", 1, 0, 7, 1);
const SIXTEEN: Pattern = on("sixteen", 1, 0, 15, 1);
const HALVES: Pattern = on("halves", 1, 4, 1, 1);
const QUARTERS: Pattern = on("quarters", 1, 3, 3, 1);
const PAIRS: Pattern = on("pairs", 1, 1, 15, 1);
const FOURS: Pattern = on("fours", 1, 2, 7, 1);
const STRIDE_2: Pattern = on("stride2", 1, 0, 31, 2);
const STRIDE_8: Pattern = on("stride8", 1, 0, 31, 8);
const STRIDE_32: Pattern = on("stride32", 1, 0, 31, 32);
const STRIDE_33: Pattern = on("stride33", 1, 0, 31, 33);
const TWO_FAR: Pattern = on("two_far", 1, 0, 1, 32);
const FOUR_FAR: Pattern = on("four_far", 1, 0, 3, 32);
const EIGHT_SECTORS: Pattern = on("eight_sectors", 1, 0, 7, 8);
const SHUFFLED: Pattern = on("shuffled", 11, 0, 31, 1);
const RANDOM_8: Pattern = on("random8", 2_654_435_761, 27, 7, 1);
const RANDOM_32: Pattern = on("random32", 2_654_435_761, 25, 31, 1);
const RANDOM_1024: Pattern = on("random1024", 2_654_435_761, 20, 1023, 1);
const UNEVEN: Pattern = on("uneven", 43, 6, 31, 1);
const ONE_LANE: Pattern = lanes(LINEAR, "one_lane", 1 << 9);
const HALF_ON: Pattern = lanes(LINEAR, "half_on", 0xFFFF);
const ODD_ON: Pattern = lanes(LINEAR, "odd_on", 0xAAAA_AAAA);
const HALF_ONE: Pattern = lanes(ONE, "half_on_one", 0xFFFF);
const SOME_ONE: Pattern = lanes(ONE, "seven_on_one", 0x1122_4409);
const SHIFTED: Pattern = Pattern { name: "shifted", start: 3, ..LINEAR };

/// Sets of patterns. `banks` has those that differ in bank conflicts; `all`, every distribution that costs depend on.
#[rustfmt::skip]
const SETS: [(&str, &[Pattern]); 5] = [
    ("few", &[LINEAR, ONE, PAIRS]),
    ("some", &[LINEAR, ONE, FOUR, PAIRS, STRIDE_32, RANDOM_32]),
    ("many", &[
        LINEAR, ONE, TWO, EIGHT, HALVES, PAIRS, STRIDE_2, STRIDE_8, TWO_FAR, RANDOM_32, RANDOM_1024, HALF_ON, SHIFTED,
    ]),
    ("banks", &[
        LINEAR, ONE, TWO, EIGHT, HALVES, PAIRS, STRIDE_2, STRIDE_32, STRIDE_33, TWO_FAR, FOUR_FAR, RANDOM_8, RANDOM_32,
        RANDOM_1024, UNEVEN, HALF_ON, SOME_ONE,
    ]),
    ("all", &[
        LINEAR, ONE, TWO, FOUR, EIGHT, SIXTEEN, HALVES, QUARTERS, PAIRS, FOURS, STRIDE_2, STRIDE_8, STRIDE_32, TWO_FAR,
        FOUR_FAR, EIGHT_SECTORS, SHUFFLED, RANDOM_8, RANDOM_32, RANDOM_1024, UNEVEN, ONE_LANE, HALF_ON, ODD_ON,
        HALF_ONE, SOME_ONE, SHIFTED,
    ]),
];

/// Bodies of the kernels, one a line; the head of the file describes them.
const BODIES: &str = include_str!("../data/accesses.txt");

#[rustfmt::skip]
const ABBREVIATIONS: [(&str, &str); 5] = [
    ("{values}", "{%v, %lane, %n, %v}"),
    ("{results}", "{%r1, %r2, %r3, %r4}"),
    ("{zero4}", "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;"),
    ("{sum4}", "add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; add.u32 %r1, %r1, %r3; st.global.u32 [%out], %r1;"),
    ("{arrive}", "cp.async.commit_group; cp.async.wait_group 0;"),
];

pub fn kernels() -> Vec<Kernel> {
    let lines = BODIES.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(kernels_of_line).collect()
}

fn kernels_of_line(line: &str) -> Vec<Kernel> {
    let (head, body) = line.split_once(": ").expect("a name and a body");
    let [name, bytes, set] = head.split(' ').collect::<Vec<_>>()[..] else {
        let expand = |text: String, (short, long): &(&str, &str)| text.replace(short, long);
        let body = ABBREVIATIONS.iter().fold(body.to_owned(), expand);
        let name = head.to_owned();
        return vec![Kernel { name, body }];
    };
    let bytes = bytes.parse().expect("the size of an element");
    let patterns = SETS.iter().find(|(known, _)| *known == set).expect("a set").1;
    let kernel = |pattern: &Pattern| Kernel {
        name: format!("{name}_{}", pattern.name),
        body: with_pattern(name.starts_with("global_"), body, bytes, pattern),
    };
    patterns.iter().map(kernel).collect()
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
