//! Small kernels of one warp around one instruction of the tensor cores, for a GPU and the emulator alike.
//!
//! A block reads its words lane by lane, executes the instruction, and writes what its registers hold afterwards.
//! `tests/data/mma/README.md` says how to ask a GPU.

use crate::gpu::{Geometry, Gpu};
use crate::{each, list};
use catalog::split_mix::SplitMix64;

#[derive(Debug, Clone)]
pub struct Fixture {
    pub name: String,
    /// Words that a lane reads: `%r0` and on.
    pub ins: usize,
    pub outs: usize,
    /// The input of each block, register by register, 32 lanes each.
    pub inputs: Vec<u32>,
    body: String,
}

/// A type of elements: its name, bits, and those of its exponent.
type Element = (&'static str, u32, u32);

const BF16: Element = ("bf16", 16, 8);
const F16: Element = ("f16", 16, 5);
const TF32: Element = ("tf32", 32, 8);
const E4M3: Element = ("e4m3", 8, 4);
const E5M2: Element = ("e5m2", 8, 5);
const F32: Element = ("f32", 32, 8);
const F64: Element = ("f64", 64, 11);
/// Integers have no exponent.
const S32: Element = ("s32", 32, 0);
const BYTES: [Element; 2] = [("s8", 8, 0), ("u8", 8, 0)];
const NIBBLES: [Element; 2] = [("s4", 4, 0), ("u4", 4, 0)];
const B1: Element = ("b1", 1, 0);

const FAMILIES: [&str; 6] = ["around one", "wide", "tiny", "special", "any bits", "cancelling"];

fn number(random: &mut SplitMix64, (_, bits, exponent_bits): Element, family: &str) -> u64 {
    let fraction_bits = (bits - 1).saturating_sub(exponent_bits);
    let bias = (1u64 << exponent_bits.saturating_sub(1)) - 1;
    let any = random.next_u64() & (u64::MAX >> (64 - bits));
    let of = |exponent: u64, low: u64| exponent << fraction_bits | low & ((1 << fraction_bits) - 1);
    let sign = any >> (bits - 1) << (bits - 1);
    if exponent_bits == 0 {
        let largest = (1 << (bits - 1)) - 1;
        return match (family, bits) {
            ("around one" | "tiny", 32) => any as i16 as u32 as u64,
            // Some sums of the others exceed the largest accumulator, and some do so only half-way.
            ("wide" | "special" | "cancelling", 32) => (largest - (any & 0x3ff)) ^ 0_u64.wrapping_sub(any >> 31),
            ("special", _) => [0, largest, sign, largest ^ sign][random.below(4)],
            _ => any,
        };
    }
    let spread = |width: u64| bias - width / 2 + (any >> 3) % width;
    match family {
        "around one" => sign | of(spread(4), any),
        "wide" => sign | of(spread(bias.min(60)), any),
        "tiny" => sign | of((any >> 5) % 3, any),
        "special" => match random.next_u64() % 40 {
            0 => sign | of((1 << exponent_bits) - 1, 0),
            1 => sign | u64::MAX >> (65 - bits),
            2..=5 => sign,
            _ => sign | of(spread(6), any),
        },
        // Small integers, so that sums of many cancel.
        "cancelling" => sign | of(spread(3), 0),
        _ => any,
    }
}

/// Returns one number of 64 or 32 bits, or a word of several shorter ones.
fn word(random: &mut SplitMix64, element: Element, family: &str) -> u64 {
    let (_, bits, _) = element;
    (0..32 / bits.min(32)).fold(0, |word, i| word | number(random, element, family) << (bits * i))
}

/// Returns a product: its shape, the types of A, B and of the accumulators, and the registers of A, B, C.
fn mma(shape: &str, a: Element, b: Element, c: Element, registers: [usize; 3]) -> Fixture {
    let name = format!("mma.sync.aligned.{shape}.row.col.{}.{}.{}.{}", c.0, a.0, b.0, c.0);
    let [n_a, n_b, n_c] = registers;
    product(name, [a, b, c], [n_a, n_b, n_c, n_c], None)
}

/// Returns a product by its name. A sparse one has a sparsity selector.
///
/// `registers` are those of A, B, C and D.
fn product(name: String, types: [Element; 3], registers: [usize; 4], selector: Option<usize>) -> Fixture {
    let wide = types[0].0 == "f64";
    let [n_a, n_b, n_c, n_d] = registers;
    let words = if wide { 2 } else { 1 };
    let n = n_a + n_b + n_c;
    let letter = if wide { "fd" } else { "r" };
    let joined = each(if wide { n } else { 0 }, |i| format!("mov.b64 %fd{i}, {{%r{}, %r{}}};\n", 2 * i, 2 * i + 1));
    let parts = [0..n_a, n_a..n_a + n_b, n_a + n_b..n].map(|range| list(range, letter));
    let metadata = usize::from(selector.is_some());
    let sparse = selector.map_or(String::new(), |selector| format!(", %r{n}, {selector}"));
    let (d, moves) = fragment(letter, n + metadata, n_d);
    let body = format!("{joined}{name} {d}, {}{sparse};\n{moves}", parts.join(", "));
    let mut random = SplitMix64(name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())));
    let mut inputs = Vec::new();
    for family in FAMILIES {
        for (registers, element) in registers.into_iter().zip(types) {
            for _ in 0..registers {
                let values: Vec<u64> = (0..32).map(|_| word(&mut random, element, family)).collect();
                inputs.extend(values.iter().map(|value| *value as u32));
                if wide {
                    inputs.extend(values.iter().map(|value| (value >> 32) as u32));
                }
            }
        }
        if selector.is_some() {
            // Places of two elements of four; in pairs, the place of one of two.
            let places: &[u32] = match types[0].0 {
                "tf32" => &[0b0100, 0b1110],
                _ if name.contains("ordered") || family != "any bits" => &[4, 8, 9, 12, 13, 14],
                _ => &[4, 8, 9, 12, 13, 14, 1, 2, 6, 3, 7, 11],
            };
            let word =
                |random: &mut SplitMix64| (0..8).fold(0, |word, _| word << 4 | places[random.below(places.len())]);
            inputs.extend((0..32).map(|_| word(&mut random)));
        }
    }
    Fixture { name, ins: n * words + metadata, outs: n_d * words, inputs, body }
}

/// Sparse products: types of A and B, of the accumulators, k, and the elements of which the metadata has two places.
type Sparse = (&'static [Element], &'static [Element], &'static [usize], usize);

/// Products of integers, of FP8 in other shapes, and of sparse tiles.
fn more_products(all: &mut Vec<Fixture>) {
    for signs in [BYTES, NIBBLES] {
        for [a, b] in signs.into_iter().flat_map(|a| signs.map(|b| [a, b])) {
            for (m, along) in [(8, 1), (16, 1), (16, 2)] {
                for satfinite in ["", ".satfinite"] {
                    let k = 128 * along / a.1 as usize;
                    let name = format!("mma.sync.aligned.m{m}n8k{k}.row.col{satfinite}.s32.{}.{}.s32", a.0, b.0);
                    all.push(product(name, [a, b, S32], [along * m / 8, along, m / 4, m / 4], None));
                }
            }
        }
    }
    for (m, along) in [(8, 1), (16, 1), (16, 2)] {
        for op in ["xor", "and"] {
            let name = format!("mma.sync.aligned.m{m}n8k{}.row.col.s32.b1.b1.s32.{op}.popc", 128 * along);
            all.push(product(name, [B1, B1, S32], [along * m / 8, along, m / 4, m / 4], None));
        }
    }
    for (a, b) in [(E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2), (E5M2, E4M3)] {
        for (k, c, n_c) in [(16, F32, 4), (16, F16, 2), (32, F16, 2)] {
            let name = format!("mma.sync.aligned.m16n8k{k}.row.col.{2}.{0}.{1}.{2}", a.0, b.0, c.0);
            all.push(product(name, [a, b, c], [k / 8, k / 16, n_c, n_c], None));
        }
    }
    let sparse: [Sparse; 6] = [
        (&[F16], &[F32, F16], &[16, 32], 4),
        (&[BF16], &[F32], &[16, 32], 4),
        (&[TF32], &[F32], &[8, 16], 2),
        (&[E4M3, E5M2], &[F32], &[64], 4),
        (&BYTES, &[S32], &[32, 64], 4),
        (&NIBBLES, &[S32], &[64, 128], 8),
    ];
    for (types, sums, depths, chunk) in sparse {
        for (&a, &b) in types.iter().flat_map(|a| types.iter().map(move |b| (a, b))) {
            for (&c, &k) in sums.iter().flat_map(|c| depths.iter().map(move |k| (c, k))) {
                // Of four threads, those whose metadata counts.
                let holders = k / chunk / 4;
                let (n, n_c) = (k * a.1 as usize / 128, if c.1 == 16 { 2 } else { 4 });
                let satfinite = if c.0 == "s32" { ".satfinite" } else { "" };
                let variants = (0..4 / holders).map(|selector| ("sp", satfinite, selector));
                for (variant, satfinite, selector) in variants.chain([("sp::ordered_metadata", "", 0)]) {
                    let name = format!(
                        "mma.{variant}.sync.aligned.m16n8k{k}.row.col{satfinite}.{2}.{0}.{1}.{2}",
                        a.0, b.0, c.0
                    );
                    let mut fixture = product(name, [a, b, c], [n, n, n_c, n_c], Some(selector));
                    fixture.name += &format!(" {selector}");
                    all.push(fixture);
                }
            }
        }
    }
}

/// Rows that lie in another order than their lanes.
const SHUFFLED: &str = "mul.lo.u32 %x, %lane, 5;\nadd.u32 %x, %x, 3;\nand.b32 %x, %x, 31;\n\
                        mad.lo.u32 %x, %x, 16, %tile;\n";

fn named(registers: usize) -> Vec<u32> {
    let place = |i: usize| (2 * i) as u32 | (2 * i as u32 + 1) << 16;
    (0..32 * registers).map(place).collect()
}

fn load_matrix(n: usize, transposed: &str) -> Fixture {
    let name = format!("ldmatrix.sync.aligned.m8n8.x{n}{transposed}.shared.b16");
    Fixture {
        ins: 4,
        outs: n,
        inputs: named(4),
        body: format!(
            "mad.lo.u32 %y, %lane, 16, %tile;\nst.shared.v4.b32 [%y], {{%r0, %r1, %r2, %r3}};\nbar.sync 0;\n{SHUFFLED}\
             {name} {}, [%x];\n",
            list(0..n, "o")
        ),
        name,
    }
}

fn store_matrix(n: usize, transposed: &str) -> Fixture {
    let name = format!("stmatrix.sync.aligned.m8n8.x{n}{transposed}.shared.b16");
    Fixture {
        ins: n,
        outs: 4,
        inputs: named(n),
        body: format!(
            "mov.u32 %y, 0;\nmad.lo.u32 %x, %lane, 16, %tile;\nst.shared.v4.b32 [%x], {{%y, %y, %y, %y}};\nbar.sync 0;\n\
             {SHUFFLED}{name} [%x], {};\nbar.sync 0;\nmad.lo.u32 %y, %lane, 16, %tile;\n\
             ld.shared.v4.b32 {{%o0, %o1, %o2, %o3}}, [%y];\n",
            list(0..n, "r")
        ),
        name,
    }
}

/// A type of `wmma`: elements of A and B, shapes with the registers of A, B and C, and types of the accumulators.
type Wmma = (Element, &'static [(&'static str, [usize; 3])], &'static [Element]);

const WHOLE: &[(&str, [usize; 3])] = &[("m16n16k16", [2, 2, 8]), ("m32n8k16", [4, 1, 8]), ("m8n32k16", [1, 4, 8])];

const INTEGER_WMMA: [Wmma; 5] = [
    (BYTES[0], WHOLE, &[S32]),
    (BYTES[1], WHOLE, &[S32]),
    (NIBBLES[0], &[("m8n8k32", [1, 1, 2])], &[S32]),
    (NIBBLES[1], &[("m8n8k32", [1, 1, 2])], &[S32]),
    (B1, &[("m8n8k128", [1, 1, 2])], &[S32]),
];

const WMMA: [Wmma; 4] = [
    (F16, &[("m16n16k16", [8, 8, 8]), ("m32n8k16", [8, 8, 8]), ("m8n32k16", [8, 8, 8])], &[F32, F16]),
    (BF16, &[("m16n16k16", [4, 4, 8]), ("m32n8k16", [8, 2, 8]), ("m8n32k16", [2, 8, 8])], &[F32]),
    (TF32, &[("m16n16k8", [4, 4, 8])], &[F32]),
    (F64, &[("m8n8k4", [1, 1, 2])], &[F64]),
];

fn sizes(shape: &str) -> [usize; 3] {
    let numbers: Vec<usize> = shape[1..].split(['n', 'k']).filter_map(|number| number.parse().ok()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

fn leading(layout: &str, rows: usize, columns: usize) -> usize {
    if layout == "row" { columns } else { rows }
}

/// Input of a block that [`fill`] puts into a word of the tile.
fn filled(place: usize) -> usize {
    place % 32 * 32 + place / 32
}

/// Two blocks whose tiles have the low and the high byte of each byte's place.
fn named_bytes() -> Vec<u32> {
    let mut inputs = vec![0; 2 * 1024];
    for (i, byte) in (0..8192).map(|i| (i, i % 4096)) {
        let value = [byte, byte >> 8][i / 4096] as u32 & 0xff;
        inputs[i / 4096 * 1024 + filled(byte / 4)] |= value << (8 * (byte % 4));
    }
    inputs
}

/// Fills the tile in shared memory with 32 words of each lane.
fn fill() -> String {
    let store = each(32, |i| format!("st.shared.b32 [%y+{}], %r{i};\n", 4 * i));
    format!("mad.lo.u32 %y, %lane, 128, %tile;\n{store}bar.sync 0;\n")
}

/// Returns the registers of a fragment: their names, and moves to the words that come back.
fn fragment(letter: &str, first: usize, n: usize) -> (String, String) {
    let moves = each(n, |i| match letter {
        "fd" => format!("mov.b64 {{%o{}, %o{}}}, %fd{};\n", 2 * i, 2 * i + 1, first + i),
        _ => format!("mov.b32 %o{i}, %{letter}{};\n", first + i),
    });
    (list(first..first + n, letter), moves)
}

/// Returns the letter of registers for the fragments of `wmma`.
fn letter_of((_, bits, _): Element) -> &'static str {
    if bits == 64 { "fd" } else { "q" }
}

fn wmma(all: &mut Vec<Fixture>, (element, shapes, sums): Wmma) {
    let words = |n: usize, element: Element| if element.1 == 64 { 2 * n } else { n };
    for &(shape, [n_a, n_b, n_c]) in shapes {
        let [m, n, k] = sizes(shape);
        // A program can name elements of less than a byte along k only.
        let bits = element.1 < 8;
        for layout in ["row", "col"] {
            let parts = [("a", m, k, n_a, element), ("b", k, n, n_b, element)];
            let parts = parts.into_iter().filter(|part| !bits || (part.0 == "a") == (layout == "row"));
            let sums = sums.iter().map(|&sum| ("c", m, n, if sum.1 == 16 { 4 } else { n_c }, sum));
            for (part, rows, columns, n, element) in parts.chain(sums) {
                let ld = leading(layout, rows, columns);
                let (registers, moves) = fragment(letter_of(element), 0, n);
                let name = format!("wmma.load.{part}.sync.aligned.{layout}.{shape}.shared.{}", element.0);
                all.push(Fixture {
                    ins: 32,
                    outs: words(n, element),
                    inputs: if element.1 > 8 { named(32) } else { named_bytes() },
                    body: format!("{}{name} {registers}, [%tile], {ld};\n{moves}", fill()),
                    name,
                });
                if part != "c" {
                    continue;
                }
                let name = format!("wmma.store.d.sync.aligned.{layout}.{shape}.shared.{}", element.0);
                let fill = fill();
                let give = each(n, |i| match element.1 {
                    64 => format!("mov.b64 %fd{i}, {{%r{}, %r{}}};\n", 2 * i, 2 * i + 1),
                    _ => format!("not.b32 %q{i}, %r{i};\n"),
                });
                let back = each(16, |i| format!("ld.shared.b32 %o{i}, [%y+{}];\n", 4 * i));
                all.push(Fixture {
                    ins: 32,
                    outs: 16,
                    inputs: named(32),
                    body: format!("{fill}{give}{name} [%tile], {registers}, {ld};\nbar.sync 0;\n{back}"),
                    name,
                });
            }
        }
        for &sum in sums {
            let whole = [("row", "col"), ("col", "row")];
            for &layouts in if bits { &whole[..1] } else { &whole } {
                let types = format!("{0}.{1}.{1}.{0}", sum.0, element.0);
                let names = match element.0 {
                    "f16" => vec![format!("mma/{0}.{0}", sum.0)],
                    "b1" => ["xor", "and"].map(|op| format!("mma.{op}.popc/{types}")).to_vec(),
                    _ if sum.0 == "s32" => vec![format!("mma/{types}"), format!("mma/{types}.satfinite")],
                    _ => vec![format!("mma/{types}")],
                };
                for name in names {
                    let n_c = if sum.1 == 16 { 4 } else { n_c };
                    all.push(wmma_product(&name, layouts, element, [sum, sum], (shape, [n_a, n_b, n_c, n_c])));
                }
            }
        }
    }
}

/// Returns a product of fragments that are loaded before it. `name` is without shape and layouts; `sums` are the types
/// of C and D.
fn wmma_product(
    name: &str, (a, b): (&str, &str), element: Element, [c, d]: [Element; 2],
    (shape, [n_a, n_b, n_c, n_d]): (&str, [usize; 4]),
) -> Fixture {
    let [m, n, k] = sizes(shape);
    let name = format!("wmma.{}", name.replace('/', &format!(".sync.aligned.{a}.{b}.{shape}.")));
    let (a_registers, _) = fragment(letter_of(element), 0, n_a);
    let (b_registers, _) = fragment(letter_of(element), 8, n_b);
    let (c_registers, _) = fragment(letter_of(c), 16, n_c);
    let (d_registers, moves) = fragment(letter_of(d), 24, n_d);
    let (ld_a, ld_b) = (leading(a, m, k), leading(b, k, n));
    let load = format!(
        "wmma.load.a.sync.aligned.{a}.{shape}.shared.{0} {a_registers}, [%tile], {ld_a};\n\
         wmma.load.b.sync.aligned.{b}.{shape}.shared.{0} {b_registers}, [%tile+1024], {ld_b};\n\
         wmma.load.c.sync.aligned.row.{shape}.shared.{1} {c_registers}, [%tile+2048], {n};\n",
        element.0, c.0
    );
    let mut random = SplitMix64(name.bytes().fold(9_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte)));
    let mut inputs = vec![0; 2 * 1024];
    for (block, family) in ["around one", "wide"].into_iter().enumerate() {
        for place in 0..1024 {
            let element = if place < 512 { element } else { c };
            let wide = element.1 == 64;
            // Both words of a number are drawn with its first one.
            if wide && place % 2 == 1 {
                continue;
            }
            let value = word(&mut random, element, family);
            inputs[1024 * block + filled(place)] = value as u32;
            if wide {
                inputs[1024 * block + filled(place + 1)] = (value >> 32) as u32;
            }
        }
    }
    Fixture {
        ins: 32,
        outs: if d.1 == 64 { 2 * n_d } else { n_d },
        inputs,
        body: format!("{}{load}{name} {d_registers}, {a_registers}, {b_registers}, {c_registers};\n{moves}", fill()),
        name,
    }
}

/// Products of fragments with other types of C than of D, and with other roundings.
fn more_wmma(all: &mut Vec<Fixture>) {
    INTEGER_WMMA.into_iter().for_each(|types| wmma(all, types));
    for &(shape, [n_a, n_b, _]) in WMMA[0].1 {
        for [c, d] in [[F16, F32], [F32, F16]] {
            let [n_c, n_d] = [c, d].map(|sum| sum.1 as usize / 4);
            let name = format!("mma/{}.{}", d.0, c.0);
            all.push(wmma_product(&name, ("row", "col"), F16, [c, d], (shape, [n_a, n_b, n_c, n_d])));
        }
    }
    for rounding in ["rn", "rz", "rm", "rp"] {
        let name = format!("mma/{rounding}.f64.f64.f64.f64");
        all.push(wmma_product(&name, ("row", "col"), F64, [F64, F64], ("m8n8k4", [1, 1, 2, 2])));
    }
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = vec![
        mma("m16n8k16", BF16, BF16, F32, [4, 2, 4]),
        mma("m16n8k8", BF16, BF16, F32, [2, 1, 4]),
        mma("m16n8k16", F16, F16, F32, [4, 2, 4]),
        mma("m16n8k8", F16, F16, F32, [2, 1, 4]),
        mma("m16n8k16", F16, F16, F16, [4, 2, 2]),
        mma("m16n8k8", F16, F16, F16, [2, 1, 2]),
        mma("m16n8k4", TF32, TF32, F32, [2, 1, 4]),
        mma("m16n8k8", TF32, TF32, F32, [4, 2, 4]),
        mma("m16n8k32", E4M3, E4M3, F32, [4, 2, 4]),
        mma("m16n8k32", E5M2, E5M2, F32, [4, 2, 4]),
        mma("m16n8k32", E4M3, E5M2, F32, [4, 2, 4]),
        mma("m16n8k32", E5M2, E4M3, F32, [4, 2, 4]),
        mma("m8n8k4", F64, F64, F64, [1, 1, 2]),
        mma("m16n8k4", F64, F64, F64, [2, 1, 4]),
        mma("m16n8k8", F64, F64, F64, [4, 2, 4]),
        mma("m16n8k16", F64, F64, F64, [8, 4, 4]),
    ];
    for n in [1, 2, 4] {
        for transposed in ["", ".trans"] {
            all.push(load_matrix(n, transposed));
            all.push(store_matrix(n, transposed));
        }
    }
    WMMA.into_iter().for_each(|types| wmma(&mut all, types));
    let name = "movmatrix.sync.aligned.m8n8.trans.b16";
    all.push(Fixture { name: name.to_owned(), ins: 1, outs: 1, inputs: named(1), body: format!("{name} %o0, %r0;\n") });
    more_products(&mut all);
    more_wmma(&mut all);
    all
}

impl Fixture {
    pub fn blocks(&self) -> usize {
        self.inputs.len() / (32 * self.ins)
    }

    /// Returns the module, with one kernel `k(in, out)`.
    pub fn ptx(&self) -> String {
        let load = each(self.ins, |i| format!("ld.global.u32 %r{i}, [%in+{}];\n", 128 * i));
        let store = each(self.outs, |i| format!("st.global.u32 [%out+{}], %o{i};\n", 128 * i));
        format!(
            include_str!("tensor_cores.ptx"),
            name = self.name,
            in_bytes = 128 * self.ins,
            out_bytes = 128 * self.outs,
            load = load,
            body = self.body,
            store = store,
        )
    }

    pub fn emulate(&self) -> Vec<u32> {
        let gpu = Gpu::default();
        let module = gpu.load(&self.ptx()).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let n = 32 * self.outs * self.blocks();
        let (input, out) = (gpu.upload(&self.inputs), gpu.upload(&vec![0_u32; n]));
        let shape = Geometry::line(self.blocks() as u32, 32);
        gpu.run(&module, "k", shape, &[input.into(), out.into()]);
        gpu.read(out, n)
    }
}
