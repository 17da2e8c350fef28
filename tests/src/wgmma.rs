//! Products of a warpgroup (`wgmma`): cases with the answers of an H200 in `tests/data/wgmma`.
//!
//! A case is a kernel, two descriptors, and an image of shared memory with numbers of the operands' type. What the
//! registers of all threads hold afterwards is its answer. `cargo run -p tests --example wgmma_cases -- DIR` writes the
//! cases for a program that runs them on a GPU (`tests/data/wgmma/run.cpp`).

use program::mma::warpgroup::Descriptor;

use crate::{each, list};
use catalog::split_mix::SplitMix64;

pub const IMAGE_BYTES: usize = 48 << 10;
pub const THREADS: u32 = 128;
const B_AT: u32 = 14 << 10;

/// The types of a product: of A, of B, of the sums, and k.
type Types = (&'static str, &'static str, &'static str, u32);

const BF16: Types = ("bf16", "bf16", "f32", 16);
#[rustfmt::skip]
const TYPES: [Types; 11] = [
    BF16, ("f16", "f16", "f32", 16), ("f16", "f16", "f16", 16),
    ("tf32", "tf32", "f32", 8), ("e4m3", "e4m3", "f32", 32), ("e4m3", "e4m3", "f16", 32),
    ("e5m2", "e5m2", "f32", 32), ("e5m2", "e5m2", "f16", 32), ("e4m3", "e5m2", "f32", 32),
    ("e5m2", "e4m3", "f32", 32), ("e5m2", "e4m3", "f16", 32),
];

/// A kernel: the parts of a product that stand in the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    types: Types,
    n: u32,
    a_in_registers: bool,
    minus: [bool; 2],
    transposed: [bool; 2],
}

#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub form: Form,
    /// Descriptors of A and B, whose addresses count from the start of the image.
    pub descriptors: [u64; 2],
    /// Sums are added to what the registers hold.
    pub adds: bool,
    /// Infinities, NaNs and subnormal numbers are among the elements.
    pub special: bool,
}

impl Form {
    pub fn words(&self) -> u32 {
        if self.types.2 == "f32" { self.n / 2 } else { self.n / 4 }
    }

    pub fn kernel(&self) -> String {
        let (a, b, d, _) = self.types;
        let flags: String = [
            ("r", self.a_in_registers),
            ("ma", self.minus[0]),
            ("mb", self.minus[1]),
            ("ta", self.transposed[0]),
            ("tb", self.transposed[1]),
        ]
        .iter()
        .filter(|(_, set)| *set)
        .map(|(name, _)| format!("_{name}"))
        .collect();
        format!("n{}_{d}_{a}_{b}{flags}", self.n)
    }

    fn ptx(&self) -> String {
        let (a, b, d, k) = self.types;
        let words = self.words();
        let loads = each(words as usize, |i| format!("    ld.global.b32 %d{i}, [%c + {}];\n", 4 * i));
        let stores = each(words as usize, |i| format!("    st.global.b32 [%o + {}], %d{i};\n", 4 * i));
        let a_loads = each(4, |i| format!("    ld.global.b32 %a{i}, [%f + {}];\n", 4 * i));
        let minus = self.minus.map(|minus| if minus { ", -1" } else { ", 1" }).concat();
        let transposed = self.transposed.map(|transposed| if transposed { ", 1" } else { ", 0" });
        // Only elements of 16 bits can be transposed, and those in registers lie as they are.
        let transposed = if k == 16 { &transposed[usize::from(self.a_in_registers)..] } else { &[] };
        let first = if self.a_in_registers { list(0..4, "a") } else { "%da".to_owned() };
        let (n, registers, transposed) = (self.n, list(0..words as usize, "d"), transposed.concat());
        let product = format!("m64n{n}k{k}.{d}.{a}.{b} {registers}, {first}, %db, %q{minus}{transposed}");
        format!(
            include_str!("wgmma.ptx"),
            name = self.kernel(),
            class = if d == "f32" { "f32" } else { "b32" },
            words = words,
            threads = THREADS,
            image_words = IMAGE_BYTES / 4,
            a_loads = a_loads,
            thread_bytes = 4 * words,
            loads = loads,
            product = product,
            stores = stores,
        )
    }
}

impl Case {
    /// Returns the types of A and B and whether special values are among them: which image it uses.
    pub fn image(&self) -> (&'static str, &'static str, bool) {
        (self.form.types.0, self.form.types.1, self.special)
    }
}

/// Returns a descriptor of something at `start`: leading and stride offsets in bytes, swizzle as in its two upper bits.
fn descriptor(start: u32, leading: u32, stride: u32, base: u64, swizzle: u64) -> u64 {
    u64::from(start >> 4) | u64::from(leading >> 4) << 16 | u64::from(stride >> 4) << 32 | base << 49 | swizzle << 62
}

/// Returns the bytes of a row with the swizzle of this number.
fn span(swizzle: u64) -> u32 {
    [16, 128, 64, 32][swizzle as usize]
}

fn packed(start: u32, transposed: bool, swizzle: u64) -> u64 {
    let group = 8 * span(swizzle);
    match (transposed, swizzle) {
        (_, 0) => descriptor(start, 128, 256, 0, 0),
        (false, _) => descriptor(start, 16, group, 0, swizzle),
        (true, _) => descriptor(start, 2 * group, group, 0, swizzle),
    }
}

const SWIZZLES: [(u64, &str); 4] = [(0, "none"), (3, "32"), (2, "64"), (1, "128")];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let form =
        |types: Types, n: u32| Form { types, n, a_in_registers: false, minus: [false; 2], transposed: [false; 2] };
    let plain = [packed(0, false, 1), packed(B_AT, false, 1)];
    let mut add = |what: &str, form: Form, descriptors: [u64; 2], adds: bool, special: bool| {
        let name = format!("{} {what}", form.kernel());
        cases.push(Case { name, form, descriptors, adds, special });
    };
    for types in TYPES {
        for n in [8, 16, 64, 128, 256] {
            add("plain", form(types, n), plain, true, false);
            if n == 64 || n == 128 {
                add("special", form(types, n), plain, true, true);
            }
        }
        for special in [false, true] {
            let what = if special { "registers, special" } else { "registers" };
            let one = Form { a_in_registers: true, ..form(types, 64) };
            add(what, one, plain, true, special);
        }
        add("replaces", form(types, 64), plain, false, false);
        for minus in [[true, false], [false, true], [true, true]] {
            let one = Form { minus, ..form(types, 16) };
            add("negated", one, plain, true, true);
        }
        for (swizzle, name) in SWIZZLES {
            let both = [packed(0, false, swizzle), packed(B_AT, false, swizzle)];
            add(&format!("swizzle {name}"), form(types, 64), both, true, false);
        }
    }
    for n in (8..=256).step_by(8) {
        add("any n", form(BF16, n), plain, false, false);
    }
    for types in &TYPES[..3] {
        for transposed in [[true, false], [false, true], [true, true]] {
            for (a, a_name) in SWIZZLES {
                for (b, b_name) in SWIZZLES {
                    let one = Form { transposed, ..form(*types, 128) };
                    let both = [packed(0, transposed[0], a), packed(B_AT, transposed[1], b)];
                    add(&format!("swizzles {a_name} {b_name}"), one, both, true, false);
                }
            }
        }
    }
    for step in 1..4 {
        let both = [packed(32 * step, false, 1), packed(B_AT + 32 * step, false, 1)];
        add(&format!("step {step} of k"), form(BF16, 64), both, true, false);
    }
    let wide = |leading, stride, base, swizzle| descriptor(B_AT, leading, stride, base, swizzle);
    let b_only = |b: u64| [plain[0], b];
    add("leading offset not used", form(BF16, 64), b_only(wide(4096, 1024, 0, 1)), true, false);
    add("leading offset zero", form(BF16, 64), b_only(wide(0, 1024, 0, 1)), true, false);
    add("rows apart", form(BF16, 64), b_only(wide(16, 1280, 0, 1)), true, false);
    add("core matrices by column", form(BF16, 64), b_only(wide(1024, 128, 0, 0)), true, false);
    add("core matrices apart", form(BF16, 64), b_only(wide(144, 400, 0, 0)), true, false);
    for start in [128, 256, 16, 48, 512, 896] {
        let b = descriptor(B_AT + start, 16, 1024, 0, 1);
        add(&format!("start {start}"), form(BF16, 64), b_only(b), true, false);
        let b = descriptor(B_AT + start, 16, 512, 0, 2);
        add(&format!("start {start}, swizzle 64"), form(BF16, 64), b_only(b), true, false);
    }
    for (start, base) in [(0, 1), (0, 3), (128, 1), (256, 2), (384, 3), (896, 7), (128, 2)] {
        let b = descriptor(B_AT + start, 16, 1024, base, 1);
        add(&format!("start {start}, base {base}"), form(BF16, 64), b_only(b), true, false);
    }
    let across = |leading, stride, base, swizzle| {
        let one = Form { transposed: [false, true], ..form(BF16, 128) };
        (one, b_only(descriptor(B_AT, leading, stride, base, swizzle)))
    };
    for (what, (one, both)) in [
        ("leading 1024, stride 2048", across(1024, 2048, 0, 1)),
        ("leading 4096, stride 1024", across(4096, 1024, 0, 1)),
        ("leading 2048, stride 128", across(2048, 128, 0, 0)),
        ("leading 128, stride 2048", across(128, 1024, 0, 0)),
        ("leading 512, stride 4096, swizzle 64", across(512, 4096, 0, 2)),
        ("leading 256, stride 4096, swizzle 32", across(256, 4096, 0, 3)),
    ] {
        add(what, one, both, true, false);
    }
    let mut seen = std::collections::HashSet::new();
    cases.retain(|case| seen.insert(case.name.clone()));
    cases
}

/// Returns the last byte, and one more, that a case reads of the image.
pub fn end(case: &Case) -> u32 {
    let form = &case.form;
    let mut end = 0;
    for (which, rows) in [(0, 64), (1, form.n)] {
        if which == 0 && form.a_in_registers {
            continue;
        }
        let one = Descriptor::decode(case.descriptors[which]);
        for row in 0..rows {
            for piece in 0..2 {
                let at =
                    if form.transposed[which] { one.mn_major(8 * piece + 7, row / 8) } else { one.k_major(row, piece) };
                end = end.max(at + 16);
            }
        }
    }
    end
}

pub fn module() -> String {
    let mut text = ".version 8.4\n.target sm_90a\n.address_size 64\n\
                    .extern .shared .align 1024 .b8 image_of[];\n"
        .to_owned();
    let mut seen = Vec::new();
    for case in cases() {
        if !seen.contains(&case.form) {
            text.push_str(&case.form.ptx());
            seen.push(case.form);
        }
    }
    text
}

/// Returns the bits of exponent, and behind the point, of a type in memory.
fn layout(name: &str) -> (u32, u32) {
    match name {
        "bf16" => (8, 7),
        "f16" => (5, 10),
        "tf32" | "f32" => (8, 23),
        "e4m3" => (4, 3),
        _ => (5, 2),
    }
}

/// Returns a number of a type: near 1, and now and then a zero; `special`: any bits every fourth time, and rarely an
/// infinity or NaN.
fn number(name: &str, special: bool, random: &mut SplitMix64) -> u32 {
    let (exponent_bits, fraction_bits) = layout(name);
    let bits = random.next_u64();
    let fraction = (bits >> 32) as u32 & ((1 << fraction_bits) - 1);
    let sign = (bits & 1) as u32;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let largest = (1 << exponent_bits) - 1;
    let exponent = match bits >> 8 & 63 {
        0..4 => return sign << (exponent_bits + fraction_bits),
        4..8 if special => 0,
        8..12 if special => (bits >> 16) as u32 % largest,
        12 if special && bits >> 24 & 3 == 0 => largest,
        other => (bias + other as i32 % 5 - 2) as u32,
    };
    // FP8 would have a NaN in nearly every sum.
    let exponent = if largest < 32 && exponent == largest { largest - 1 } else { exponent };
    let fraction = if exponent == largest && bits >> 20 & 1 == 0 { 0 } else { fraction };
    sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction
}

fn words(n: usize, name: &str, special: bool, seed: u64) -> Vec<u32> {
    let (exponent_bits, fraction_bits) = layout(name);
    let width = 1 + exponent_bits + fraction_bits;
    let random = &mut SplitMix64(seed);
    (0..n).map(|_| (0..32 / width).fold(0, |word, at| word | number(name, special, random) << (at * width))).collect()
}

/// Returns the image of shared memory: numbers of A's type up to where B begins, then of B's.
pub fn image((a, b, special): (&'static str, &'static str, bool)) -> Vec<u32> {
    let mut image = words(IMAGE_BYTES / 4, a, special, 1);
    let from = B_AT as usize / 4;
    image.splice(from.., words(IMAGE_BYTES / 4 - from, b, special, 2));
    image
}

pub fn sums(case: &Case) -> Vec<u32> {
    let n = (THREADS * case.form.words()) as usize;
    words(n, case.form.types.2, case.special, 3)
}

pub fn hash(words: &[u32]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
