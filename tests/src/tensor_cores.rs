//! Small kernels of one warp around one instruction of the tensor cores, for a GPU and the emulator alike.
//!
//! A block reads its words lane by lane, executes the instruction, and writes what its registers hold afterwards.
//! `tests/data/mma/README.md` says how to ask a GPU.

use crate::each;
use crate::gpu::{Geometry, Gpu};
use crate::split_mix::Random;

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

const FAMILIES: [&str; 6] = ["around one", "wide", "tiny", "special", "any bits", "cancelling"];

fn number(random: &mut Random, (_, bits, exponent_bits): Element, family: &str) -> u64 {
    let fraction_bits = bits - 1 - exponent_bits;
    let bias = (1u64 << (exponent_bits - 1)) - 1;
    let any = random.next() & (u64::MAX >> (64 - bits));
    let of = |exponent: u64, low: u64| exponent << fraction_bits | low & ((1 << fraction_bits) - 1);
    let sign = any >> (bits - 1) << (bits - 1);
    let spread = |width: u64| bias - width / 2 + (any >> 3) % width;
    match family {
        "around one" => sign | of(spread(4), any),
        "wide" => sign | of(spread(bias.min(60)), any),
        "tiny" => sign | of((any >> 5) % 3, any),
        "special" => match random.next() % 40 {
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

fn word(random: &mut Random, element: Element, family: &str) -> u32 {
    let (_, bits, _) = element;
    (0..32 / bits.min(32)).fold(0, |word, i| word | (number(random, element, family) as u32) << (bits * i))
}

fn list(registers: std::ops::Range<usize>, letter: &str) -> String {
    let names: Vec<String> = registers.map(|i| format!("%{letter}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Returns a product: its shape, the types of A, B and of the accumulators, and the registers of A, B, C.
fn mma(shape: &str, a: Element, b: Element, c: Element, registers: [usize; 3]) -> Fixture {
    let wide = a.0 == "f64";
    let name = format!("mma.sync.aligned.{shape}.row.col.{}.{}.{}.{}", c.0, a.0, b.0, c.0);
    let [n_a, n_b, n_c] = registers;
    let words = if wide { 2 } else { 1 };
    let n = n_a + n_b + n_c;
    let letter = if wide { "fd" } else { "r" };
    let joined = each(if wide { n } else { 0 }, |i| format!("mov.b64 %fd{i}, {{%r{}, %r{}}};\n", 2 * i, 2 * i + 1));
    let parts = [0..n_a, n_a..n_a + n_b, n_a + n_b..n].map(|range| list(range, letter));
    let d = list(n..n + n_c, letter);
    let moves = each(n_c, |i| {
        if wide {
            format!("mov.b64 {{%o{}, %o{}}}, %fd{};\n", 2 * i, 2 * i + 1, n + i)
        } else {
            format!("mov.b32 %o{i}, %r{};\n", n + i)
        }
    });
    let body = format!("{joined}{name} {d}, {};\n{moves}", parts.join(", "));
    let mut random = Random(name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())));
    let mut inputs = Vec::new();
    for family in FAMILIES {
        for (registers, element) in [(n_a, a), (n_b, b), (n_c, c)] {
            for _ in 0..registers {
                let values: Vec<u64> = (0..32)
                    .map(|_| {
                        if wide {
                            number(&mut random, element, family)
                        } else {
                            u64::from(word(&mut random, element, family))
                        }
                    })
                    .collect();
                inputs.extend(values.iter().map(|value| *value as u32));
                if wide {
                    inputs.extend(values.iter().map(|value| (value >> 32) as u32));
                }
            }
        }
    }
    Fixture { name, ins: n * words, outs: n_c * words, inputs, body }
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
    let outs: Vec<String> = (0..n).map(|i| format!("%o{i}")).collect();
    Fixture {
        ins: 4,
        outs: n,
        inputs: named(4),
        body: format!(
            "mad.lo.u32 %y, %lane, 16, %tile;\nst.shared.v4.b32 [%y], {{%r0, %r1, %r2, %r3}};\nbar.sync 0;\n{SHUFFLED}\
             {name} {{{}}}, [%x];\n",
            outs.join(", ")
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

/// Fills the tile in shared memory with 32 words of each lane.
fn fill() -> String {
    let store = each(32, |i| format!("st.shared.b32 [%y+{}], %r{i};\n", 4 * i));
    format!("mad.lo.u32 %y, %lane, 128, %tile;\n{store}bar.sync 0;\n")
}

/// Returns the registers of a fragment: their names, and moves to the words that come back.
fn fragment(first: usize, n: usize, element: Element) -> (String, String) {
    let moves = each(n, |i| match element.1 {
        64 => format!("mov.b64 {{%o{}, %o{}}}, %fd{};\n", 2 * i, 2 * i + 1, first + i),
        _ => format!("mov.b32 %o{i}, %q{};\n", first + i),
    });
    let letter = if element.1 == 64 { "fd" } else { "q" };
    (list(first..first + n, letter), moves)
}

fn wmma(all: &mut Vec<Fixture>, (element, shapes, sums): Wmma) {
    let words = |n: usize, element: Element| if element.1 == 64 { 2 * n } else { n };
    for &(shape, [n_a, n_b, n_c]) in shapes {
        let [m, n, k] = sizes(shape);
        let leading = |layout: &str, rows: usize, columns: usize| match layout {
            "row" => columns,
            _ => rows,
        };
        for layout in ["row", "col"] {
            let parts = [("a", m, k, n_a, element), ("b", k, n, n_b, element)];
            let sums = sums.iter().map(|&sum| ("c", m, n, if sum.1 == 16 { 4 } else { n_c }, sum));
            for (part, rows, columns, n, element) in parts.into_iter().chain(sums) {
                let ld = leading(layout, rows, columns);
                let (registers, moves) = fragment(0, n, element);
                let name = format!("wmma.load.{part}.sync.aligned.{layout}.{shape}.shared.{}", element.0);
                all.push(Fixture {
                    ins: 32,
                    outs: words(n, element),
                    inputs: named(32),
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
            for (a, b) in [("row", "col"), ("col", "row")] {
                let types = match element.0 {
                    "f16" => format!("{0}.{0}", sum.0),
                    _ => format!("{0}.{1}.{1}.{0}", sum.0, element.0),
                };
                let name = format!("wmma.mma.sync.aligned.{a}.{b}.{shape}.{types}");
                let n_c = if sum.1 == 16 { 4 } else { n_c };
                let (a_registers, _) = fragment(0, n_a, element);
                let (b_registers, _) = fragment(8, n_b, element);
                let (c_registers, _) = fragment(16, n_c, sum);
                let (d_registers, moves) = fragment(24, n_c, sum);
                let (ld_a, ld_b) = (leading(a, m, k), leading(b, k, n));
                let load = format!(
                    "wmma.load.a.sync.aligned.{a}.{shape}.shared.{0} {a_registers}, [%tile], {ld_a};\n\
                     wmma.load.b.sync.aligned.{b}.{shape}.shared.{0} {b_registers}, [%tile+1024], {ld_b};\n\
                     wmma.load.c.sync.aligned.row.{shape}.shared.{1} {c_registers}, [%tile+2048], {n};\n",
                    element.0, sum.0
                );
                let mut random = Random(name.bytes().fold(9_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte)));
                let mut inputs = vec![0; 2 * 1024];
                for (block, family) in ["around one", "wide"].into_iter().enumerate() {
                    for place in 0..1024 {
                        let element = if place < 512 { element } else { sum };
                        let value = match element.1 {
                            // Both words of a number are drawn with its first one.
                            64 if place % 2 == 1 => continue,
                            64 => number(&mut random, element, family),
                            _ => word(&mut random, element, family).into(),
                        };
                        // Where `fill` takes the word from.
                        let at = |place: usize| 1024 * block + place % 32 * 32 + place / 32;
                        inputs[at(place)] = value as u32;
                        if element.1 == 64 {
                            inputs[at(place + 1)] = (value >> 32) as u32;
                        }
                    }
                }
                all.push(Fixture {
                    ins: 32,
                    outs: words(n_c, sum),
                    inputs,
                    body: format!(
                        "{}{load}{name} {d_registers}, {a_registers}, {b_registers}, {c_registers};\n{moves}",
                        fill()
                    ),
                    name,
                });
            }
        }
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
        let (ins, outs) = (128 * self.ins, 128 * self.outs);
        format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n\n// {}\n.visible .entry k(.param .u64 p_in, .param .u64 p_out)\n{{\n\
             .reg .b32 %r<64>, %o<16>, %q<32>, %x, %y, %lane, %block, %tile;\n.reg .b64 %in, %out;\n.reg .f64 %fd<40>;\n\
             .shared .align 128 .b8 tile[4096];\n\
             ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\nmov.u32 %lane, %tid.x;\nmov.u32 %block, %ctaid.x;\n\
             mov.u32 %tile, tile;\nmad.wide.u32 %in, %block, {ins}, %in;\nmad.wide.u32 %in, %lane, 4, %in;\n\
             mad.wide.u32 %out, %block, {outs}, %out;\nmad.wide.u32 %out, %lane, 4, %out;\n\
             {load}{}{store}ret;\n}}\n",
            self.name, self.body
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
