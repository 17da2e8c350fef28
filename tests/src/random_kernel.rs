//! Random kernels: valid PTX, from a seed, for finding out what the machine does with programs nobody wrote.
//!
//! A kernel of [`tame`] stays inside its buffers and its results do not depend on timing, so that two runs of it
//! can be compared bit for bit. A kernel of [`wild`] computes addresses, barrier numbers and lane masks from data
//! and may loop for ever: a run must end in an answer or a finding.

use std::fmt::{Display, Write as _};
use std::sync::LazyLock;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

pub const BLOCK: u32 = 64;
pub const GRID: u32 = 3;
pub const INPUT_WORDS: usize = 1024;
pub const OUTPUT_WORDS_PER_THREAD: usize = 16;
pub const OUTPUT_WORDS: usize = output_words(GRID);

pub const fn output_words(grid: u32) -> usize {
    OUTPUT_WORDS_PER_THREAD * (BLOCK * grid) as usize
}

/// Registers of each class that statements draw from; a few more hold pointers and loop counters.
const N_REGS: u32 = 8;
const SHARED_WORDS: u32 = 256;

/// Operand classes and instructions of each form.
static FORMS: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let lines = include_str!("../data/random/forms.txt").lines().filter(|line| !line.starts_with('#'));
    let form = |line: &'static str| {
        let (classes, names) = line.split_once(": ").expect("operand classes and instructions");
        (classes, names.split(' ').collect())
    };
    lines.map(form).collect()
});

/// Returns a kernel whose results depend on its input alone.
pub fn tame(seed: u64) -> String {
    Generator::new(seed, false).kernel()
}

/// Returns a tame kernel that reads its shared memory and its output before it writes them, or parts of them.
pub fn unwritten(seed: u64) -> String {
    let (before, after) = ("\tst.shared.v4.b32 [%mine], {%off, %off, %thread, %off};\n", "\tmov.b32 %off, %f0;\n");
    let reads = "\tld.global.b32 %off, [%out+4];\n\txor.b32 %r7, %r7, %off;\n";
    tame(seed).replace(before, "\tst.shared.b16 [%mine+4], %off;\n").replace(after, &format!("{reads}{after}"))
}

/// Returns a kernel that may do anything PTX lets it.
pub fn wild(seed: u64) -> String {
    Generator::new(seed, true).kernel()
}

/// Returns the input for a seed: small numbers, edge values and noise.
pub fn input(seed: u64) -> Vec<u32> {
    #[rustfmt::skip]
    const EDGES: [u32; 12] = [
        0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x0000_0001 << 22,
        0x3f80_0000, 0xbf80_0000, 0x7f7f_ffff,
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x1a7e);
    (0..INPUT_WORDS)
        .map(|_| match rng.random_range(0..4u32) {
            0 => rng.random_range(0..64),
            1 => EDGES[rng.random_range(0..EDGES.len())],
            2 => rng.random_range(-8.0f32..8.0).to_bits(),
            _ => rng.random(),
        })
        .collect()
}

/// Returns one line of a file of answers: seed, hash of the kernel's text, hash of its output.
pub fn line(seed: u64, text: &str, output: &[u32]) -> String {
    let output: Vec<u8> = output.iter().flat_map(|word| word.to_le_bytes()).collect();
    format!("{seed} {} {}", short_hash(text.as_bytes()), short_hash(&output))
}

fn short_hash(bytes: &[u8]) -> String {
    catalog::provenance::sha256(bytes)[..16].to_owned()
}

struct Generator {
    rng: ChaCha8Rng,
    wild: bool,
    body: String,
    /// Numbers labels and loop counters.
    n_labels: u32,
    /// Statements that may still be made.
    fuel: u32,
}

impl Generator {
    fn new(seed: u64, wild: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let fuel = rng.random_range(10..120);
        Self { rng, wild, body: String::new(), n_labels: 0, fuel }
    }

    fn kernel(mut self) -> String {
        self.statements(0, true);
        // Each thread owns four words of shared memory and its own stretch of the output.
        let mut text = format!(
            include_str!("random_kernel.ptx"),
            registers = N_REGS + 8,
            counters = self.n_labels + 1,
            shared_bytes = SHARED_WORDS * 4,
            own_shared = SHARED_WORDS * 4 / BLOCK,
            own_output = OUTPUT_WORDS_PER_THREAD * 4,
        );
        for i in 0..N_REGS {
            let _ = write!(
                text,
                "\tmad.lo.s32 %off, %thread, {}, {};\n\tand.b32 %off, %off, {};\n\tmul.wide.u32 %addr, %off, 4;\n\
                 \tadd.s64 %addr, %in, %addr;\n\tld.global.b32 %r{i}, [%addr];\n\tld.global.f32 %f{i}, [%addr+4];\n\
                 \tcvt.f64.f32 %e{i}, %f{i};\n\tcvt.u16.u32 %h{i}, %r{i};\n\tmov.b64 %d{i}, {{%r{i}, %off}};\n\
                 \tsetp.lt.s32 %p{i}, %r{i}, {};\n",
                2 * i + 1,
                i * 37,
                INPUT_WORDS - 2,
                i * 100,
            );
        }
        text.push_str(&self.body);
        text.push_str("\tbar.sync 0;\n");
        // Fold everything into the thread's own output.
        for i in 0..N_REGS {
            let _ = write!(
                text,
                "\tmov.b32 %off, %f{i};\n\txor.b32 %r{i}, %r{i}, %off;\n\tst.global.b32 [%out+{}], %r{i};\n\
                 \tmov.b64 %addr, %e{i};\n\txor.b64 %d{i}, %d{i}, %addr;\n\tselp.b32 %off, 1, 2, %p{i};\n\
                 \tmov.b64 {{%count0, %r0}}, %d{i};\n\tadd.s32 %off, %off, %count0;\n\tadd.s32 %off, %off, %r0;\n\
                 \tcvt.u32.u16 %r0, %h{i};\n\tadd.s32 %off, %off, %r0;\n\tst.global.b32 [%out+{}], %off;\n",
                i * 8,
                i * 8 + 4,
            );
        }
        text.push_str("\tret;\n}\n");
        text
    }

    fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.body, "\t{line};");
    }

    fn label(&mut self) -> u32 {
        self.n_labels += 1;
        self.n_labels
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.rng.random_range(0..from.len())]
    }

    fn reg(&mut self, class: &str) -> String {
        let i = self.rng.random_range(0..N_REGS);
        format!("%{class}{i}")
    }

    fn source(&mut self, class: &str) -> String {
        if self.rng.random_range(0..8u32) != 0 {
            return self.reg(class);
        }
        match class {
            "r" => format!("{}", self.rng.random_range(-5i32..40)),
            "d" => format!("{}", self.rng.random_range(-5i64..70)),
            "h" => format!("{}", self.rng.random_range(0..40u32)),
            "f" => format!("0f{:08X}", self.rng.random::<u32>()),
            "e" => format!("0d{:016X}", self.rng.random::<u64>()),
            _ => self.reg(class),
        }
    }

    /// Statements at one nesting level; `together` says that all threads of the block pass here.
    fn statements(&mut self, depth: u32, together: bool) {
        let n = self.rng.random_range(1..if depth == 0 { 40 } else { 8 });
        for _ in 0..n {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            match self.rng.random_range(0..100u32) {
                0..60 => self.arithmetic(),
                60..66 => self.global(),
                66..74 => self.shared(),
                74..80 if depth < 4 => self.condition(depth),
                80..85 if depth < 3 => self.repeat(depth, together),
                85..88 if depth < 4 => self.indexed(depth),
                88..92 if together || self.wild => self.line(if self.wild { "bar.sync 1" } else { "bar.sync 0" }),
                92..97 if together || self.wild => self.warp_wide(),
                97..100 if self.wild => self.anything(),
                _ => self.arithmetic(),
            }
        }
    }

    fn arithmetic(&mut self) {
        let (classes, names) = self.pick(&FORMS);
        let name = *self.pick(names);
        let operand = |(i, class)| if i == 0 || class == "p" { self.reg(class) } else { self.source(class) };
        let mut operands: Vec<String> = classes.split(',').enumerate().map(operand).collect();
        if name.starts_with("mov.b") && classes.split(',').nth(1) != classes.split(',').next() {
            // A bit-wise move between classes takes a register.
            operands[1] = self.reg(classes.split(',').nth(1).unwrap_or("r"));
        }
        // Immediates are kept out of forms that take them only in some positions.
        let register = match name {
            _ if name.contains("f16") => Some(1),
            _ if ["bf", "dp", "prmt", "cvt", "testp"].iter().any(|start| name.starts_with(start)) => Some(0),
            _ => None,
        };
        for (operand, class) in operands.iter_mut().zip(classes.split(',')) {
            if let (Some(register), false) = (register, operand.starts_with('%')) {
                *operand = format!("%{class}{register}");
            }
        }
        let guard = match self.rng.random_range(0..6u32) {
            // The assembler of CUDA 13.0 loses the guard of `testp` when it optimises.
            _ if name.starts_with("testp") => String::new(),
            0 => format!("@{} ", self.reg("p")),
            1 => format!("@!{} ", self.reg("p")),
            _ => String::new(),
        };
        self.line(format!("{guard}{name} {}", operands.join(", ")));
        // Which NaN comes out of two, or of a change of sign, is the assembler's choice; from here on it is one.
        let canonical = match (&classes[..1], name) {
            ("e", _) if classes.starts_with("e,e") => Some(("f64", "0d7FF8000000000000")),
            (_, "abs.f32" | "neg.f32") => Some(("f32", "0f7FFFFFFF")),
            _ => None,
        };
        if let Some((ty, nan)) = canonical {
            self.line(format!("setp.nan.{ty} %again, {0}, {0}", operands[0]));
            self.line(format!("@%again mov.{ty} {}, {nan}", operands[0]));
        }
    }

    fn global(&mut self) {
        let from = self.reg("r");
        if self.wild && self.rng.random_range(0..4u32) == 0 {
            self.line(format!("cvt.s64.s32 %addr, {from}"));
        } else {
            self.line(format!("and.b32 %off, {from}, {}", (INPUT_WORDS - 4) & !3));
            self.line("mul.wide.u32 %addr, %off, 4");
        }
        self.line("add.s64 %addr, %in, %addr");
        let (a, b) = (self.reg("r"), self.rng.random_range(0..N_REGS));
        let text = match self.rng.random_range(0..7u32) {
            0 => format!("ld.global.b32 {a}, [%addr]"),
            1 => format!("ld.global.s8 {a}, [%addr+3]"),
            2 => format!("ld.global.nc.u16 {a}, [%addr+2]"),
            3 => format!("ld.global.v2.b32 {{{a}, %r{}}}, [%addr]", (b + 1) % N_REGS),
            4 => format!("ld.global.v4.f32 {{%f0, %f{}, %f2, %f1}}, [%addr]", 3 + b % 4),
            5 => format!("ld.global.b64 %d{b}, [%addr+8]"),
            _ => format!("ld.f64 %e{b}, [%addr]"),
        };
        // Two destinations of one load must differ.
        if text.contains(".v2") && text.matches(&format!("{a},")).count() + text.matches(&format!("{a}}}")).count() > 1
        {
            return;
        }
        self.line(text);
        if self.wild {
            self.line(format!("st.global.b32 [%addr+{}], {a}", b));
        }
    }

    /// Reads and writes of the thread's own four words.
    fn shared(&mut self) {
        let i = self.rng.random_range(0..N_REGS);
        let at = if self.wild && self.rng.random_range(0..4u32) == 0 {
            format!("[%r{i}]")
        } else {
            format!("[%mine+{}]", 4 * self.rng.random_range(0..4u32))
        };
        let text = match self.rng.random_range(0..6u32) {
            0 | 1 => format!("st.shared.b32 {at}, %r{i}"),
            2 => format!("st.shared.u8 {at}, %h{i}"),
            3 => format!("ld.shared.f32 %f{i}, {at}"),
            4 => "st.shared.v4.b32 [%mine], {%r1, %r2, %r3, %r1}".to_owned(),
            _ => format!("ld.shared.b32 %r{i}, {at}"),
        };
        self.line(text);
    }

    fn condition(&mut self, depth: u32) {
        let (p, other, end) = (self.reg("p"), self.label(), self.label());
        self.line(format!("@{p} bra $L{other}"));
        self.statements(depth + 1, false);
        if self.rng.random() {
            self.line(format!("bra.uni $L{end}"));
            let _ = writeln!(self.body, "$L{other}:");
            self.statements(depth + 1, false);
            let _ = writeln!(self.body, "$L{end}:");
        } else {
            let _ = writeln!(self.body, "$L{other}:");
        }
    }

    fn repeat(&mut self, depth: u32, together: bool) {
        let top = self.label();
        let same = self.rng.random::<bool>();
        let trips = if same { format!("{}", self.rng.random_range(1..6u32)) } else { self.reg("r") };
        self.line(format!("mov.b32 %count{top}, {trips}"));
        self.line(format!("and.b32 %count{top}, %count{top}, 7"));
        let _ = writeln!(self.body, "$L{top}:");
        self.statements(depth + 1, together && same);
        self.line(format!("add.s32 %count{top}, %count{top}, -1"));
        self.line(format!("setp.gt.s32 %again, %count{top}, 0"));
        self.line(format!("@%again bra $L{top}"));
    }

    fn indexed(&mut self, depth: u32) {
        let (a, b, end) = (self.label(), self.label(), self.label());
        let text = format!("and.b32 %off, {}, 1", self.reg("r"));
        self.line(text);
        let _ = writeln!(self.body, "$T{end}: .branchtargets $L{a}, $L{b};");
        self.line(format!("brx.idx %off, $T{end}"));
        for (label, last) in [(a, false), (b, true)] {
            let _ = writeln!(self.body, "$L{label}:");
            self.statements(depth + 1, false);
            if !last {
                self.line(format!("bra.uni $L{end}"));
            }
        }
        let _ = writeln!(self.body, "$L{end}:");
    }

    /// Shuffles and votes where all lanes are together.
    fn warp_wide(&mut self) {
        let (a, b, p) = (self.reg("r"), self.reg("r"), self.reg("p"));
        let members = if self.wild && self.rng.random() { self.reg("r") } else { "-1".to_owned() };
        let text = match self.rng.random_range(0..8u32) {
            0 => {
                format!("shfl.sync.idx.b32 {a}|{p}, {b}, {}, 31, {members}", self.rng.random_range(0..32u32))
            }
            1 => format!("shfl.sync.down.b32 {a}, {b}, {}, 31, {members}", self.rng.random_range(0..32u32)),
            2 => format!("shfl.sync.up.b32 {a}|{p}, {b}, {}, 0, {members}", self.rng.random_range(0..32u32)),
            3 => format!("shfl.sync.bfly.b32 {a}, {b}, {}, 31, {members}", self.rng.random_range(0..32u32)),
            4 => format!("vote.sync.ballot.b32 {a}, {p}, {members}"),
            5 => format!("vote.sync.any.pred {p}, {}, {members}", self.reg("p")),
            6 => format!("match.any.sync.b32 {a}, {b}, {members}"),
            _ => format!("redux.sync.add.s32 {a}, {b}, {members}"),
        };
        self.line(text);
    }

    fn anything(&mut self) {
        let r = self.reg("r");
        let text = match self.rng.random_range(0..10u32) {
            0 => format!("@{} exit", self.reg("p")),
            1 => format!("barrier.sync {r}"),
            2 => format!("atom.global.add.u32 {r}, [%in], {}", self.reg("r")),
            3 => format!("atom.shared.cas.b32 {r}, [pool+8], {}, 1", self.reg("r")),
            4 => "membar.gl".to_owned(),
            5 => format!("red.global.add.f32 [%out], {}", self.reg("f")),
            6 => format!("ld.volatile.global.u32 {r}, [%in]"),
            7 => format!("bar.sync 2, {}", 32 * self.rng.random_range(1..3u32)),
            8 => format!("@{} trap", self.reg("p")),
            _ => {
                let label = self.label();
                let _ = writeln!(self.body, "$L{label}:");
                self.arithmetic();
                format!("@{} bra $L{label}", self.reg("p"))
            }
        };
        self.line(text);
    }
}
