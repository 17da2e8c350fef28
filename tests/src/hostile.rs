//! Modules that ask for too much, of every kind that has been thought of, from a seed.

use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

use catalog::files::files_ending_with;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// Returns a size between 1 and `most`, small ones as likely as large ones.
fn size(rng: &mut ChaCha8Rng, most: u32) -> u32 {
    let bits = rng.random_range(0..=most.max(1).ilog2());
    rng.random_range(1..=2u32 << bits).min(most)
}

/// Returns machine code of the ladder, damaged: instructions with bits changed, taken from elsewhere, or sent
/// elsewhere; now and then anything else in the file.
pub fn cubin(seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xcb1);
    let mut cubin = CUBINS[rng.random_range(0..CUBINS.len())].clone();
    let Ok(module) = sass::Module::read(&cubin) else { return cubin };
    // Words that begin an instruction: the first of a kernel are looked for, and the others are behind it.
    let words: Vec<usize> = (0..cubin.len() / 16)
        .map(|at| 16 * at)
        .filter(|&at| word(&cubin, at).is_some_and(|word| sass::decode(sass::Architecture::Sm90, word, 0).is_ok()))
        .collect();
    let n_instructions: usize = module.kernels.iter().map(|kernel| kernel.instructions.len()).sum();
    if words.is_empty() || n_instructions == 0 {
        return cubin;
    }
    for _ in 0..size(&mut rng, 12) {
        let at = words[rng.random_range(0..words.len())];
        let Some(old) = word(&cubin, at) else { continue };
        let other = words[rng.random_range(0..words.len())];
        let new = match rng.random_range(0..8u32) {
            0..3 => old ^ 1 << rng.random_range(0..105u32),
            3 => word(&cubin, other).unwrap_or(old),
            // A predicate, a register, a barrier.
            4 => old & !(7 << 12) | u128::from(rng.random_range(0..8u32)) << 12,
            5 => old & !(0xff << 24) | u128::from(rng.random_range(0..256u32)) << 24,
            6 => old & !(0xff << 16) | u128::from(rng.random_range(0..256u32)) << 16,
            // The distance of a label.
            _ => {
                let distance = i64::from(rng.random_range(-64..64i32)) * 16;
                let bits = (distance as u64 / 4) as u128 & ((1 << 30) - 1);
                old & !(((1 << 30) - 1) << 34) | bits << 34
            }
        };
        cubin[at..at + 16].copy_from_slice(&new.to_le_bytes());
    }
    if rng.random_ratio(1, 8) {
        let at = rng.random_range(0..cubin.len());
        cubin[at] = rng.random_range(0..=255u8);
    }
    cubin
}

static CUBINS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let sources = catalog::STEPS.iter().flat_map(|step| step.kernels);
    let mut names: Vec<&str> = sources.filter_map(|kernel| kernel.source).collect();
    names.dedup();
    names.into_iter().map(crate::recorded::cubin).collect()
});

fn word(bytes: &[u8], at: usize) -> Option<u128> {
    Some(u128::from_le_bytes(bytes.get(at..at + 16)?.try_into().ok()?))
}

pub fn module(seed: u64) -> (String, String) {
    type Kind = (&'static str, fn(&mut ChaCha8Rng) -> String);
    #[rustfmt::skip]
    const KINDS: [Kind; 12] = [
        ("initialisers", initialisers), ("inlining", inlining), ("doubling", doubling),
        ("declarations", declarations), ("names", names), ("branches", branches), ("tables", tables),
        ("registers", registers), ("blocks", blocks), ("files", files), ("memory", memory),
        ("endless", endless),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let (name, make) = KINDS[rng.random_range(0..KINDS.len())];
    (name.to_owned(), format!(".version 8.4\n.target sm_90\n.address_size 64\n{}", make(&mut rng)))
}

fn initialisers(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    for i in 0..size(rng, 200) {
        let space = ["global", "const"][rng.random_range(0..2usize)];
        let ty = ["b8", "u16", "b32", "f32", "f64", "u64", "v4 .f32"][rng.random_range(0..7usize)];
        let dims: String =
            (0..rng.random_range(0..4u32)).map(|_| format!("[{}]", 1u64 << rng.random_range(0..34u32))).collect();
        let list: Vec<String> = (0..size(rng, 5000)).map(|_| rng.random_range(0..3u32).to_string()).collect();
        let list = match rng.random_range(0..5u32) {
            0 => String::new(),
            1 => format!(" = {{{{{}}}, {{1}}}}", list.join(",")),
            2 => format!(" = {{v{}, v{i} + 8}}", rng.random_range(0..=i)),
            _ => format!(" = {{{}}}", list.join(",")),
        };
        let _ = writeln!(text, ".{space} .{ty} v{i}{dims}{list};");
    }
    text + ".entry k() { ret; }\n"
}

/// Returns a line of arithmetic, memory or control on the registers of [`body`].
fn line(rng: &mut ChaCha8Rng) -> String {
    let mut r = || rng.random_range(0..8u32);
    let (a, b, c) = (r(), r(), r());
    match rng.random_range(0..9u32) {
        0 => format!("add.s32 %r{a}, %r{b}, %r{c};"),
        1 => format!("mad.lo.s32 %r{a}, %r{b}, {c}, %r{a};"),
        2 => format!("setp.lt.u32 %p{}, %r{b}, %r{c};", a % 4),
        3 => format!("@%p{} mov.u32 %r{b}, %tid.x;", a % 4),
        4 => format!("cvt.u64.u32 %d{}, %r{b};", a % 4),
        5 => format!("fma.rn.f32 %f{a}, %f{b}, 0f{:08x}, %f{c};", b * 0x1234_5678 % 0x7f80_0000),
        6 => format!("shfl.sync.idx.b32 %r{a}, %r{b}, {c}, 31, -1;"),
        7 => format!("ld.shared.u32 %r{a}, [s+{}];", 4 * b),
        _ => format!("st.shared.u32 [s+{}], %r{b};", 4 * c),
    }
}

fn body(rng: &mut ChaCha8Rng, n: u32) -> String {
    let mut text =
        ".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<4>; .reg .pred %p<4>; .shared .b32 s[16];\n".to_owned();
    for _ in 0..n {
        text.push_str(&line(rng));
        text.push('\n');
    }
    text
}

fn inlining(rng: &mut ChaCha8Rng) -> String {
    let lines = size(rng, 10_000);
    let mut text = format!(".func f() {{\n{}ret;\n}}\n", body(rng, lines));
    for i in 0..size(rng, 5000) {
        let _ = writeln!(text, ".entry k{i}() {{ call f; ret; }}");
    }
    text
}

fn doubling(rng: &mut ChaCha8Rng) -> String {
    let lines = size(rng, 20);
    let mut text = format!(".func f0() {{\n{}ret;\n}}\n", body(rng, lines));
    let depth = size(rng, 110);
    let calls = rng.random_range(1..4usize);
    for i in 1..=depth {
        let _ = writeln!(text, ".func f{i}() {{ {} ret; }}", format!("call f{};", i - 1).repeat(calls));
    }
    let _ = writeln!(text, ".entry k() {{ call f{depth}; ret; }}");
    text
}

fn declarations(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    #[rustfmt::skip]
    let line = [
        ".shared .b32 x#;", ".global .b32 x#[4];", ".const .b32 x# = 1;", ".extern .shared .b8 x#[];",
        "// sm_90: k#: # registers, 0 bytes smem", ".file # \"x#.cu\"", ".extern .func x#();",
        ".alias x#, f;",
    ][rng.random_range(0..8usize)];
    for i in 0..size(rng, 20_000) {
        let _ = writeln!(text, "{}", line.replace('#', &i.to_string()));
    }
    #[rustfmt::skip]
    let statement = [
        ".loc 1 # 3", ".reg .b32 %q#;", "l#:", ".local .b32 y#;", ".shared .b32 z#;", ".param .b64 p#;",
        ".pragma \"nounroll\";", "{ .reg .b32 %r; }",
    ][rng.random_range(0..8usize)];
    let _ = writeln!(text, ".func f() {{");
    for i in 0..size(rng, 10_000) {
        let _ = writeln!(text, "{}", statement.replace('#', &i.to_string()));
    }
    text.push_str("ret; }\n");
    let directive = [".maxntid 32, 1, 1 ", ".minnctapersm 2 ", ".pragma \"a\"; "][rng.random_range(0..3usize)];
    let n_directives = size(rng, 100) as usize;
    for i in 0..size(rng, 5000) {
        let _ = writeln!(text, ".entry k{i}() {} {{ call f; ret; }}", directive.repeat(n_directives));
    }
    text
}

fn names(rng: &mut ChaCha8Rng) -> String {
    let long = "n".repeat(size(rng, 1 << 20) as usize);
    let n = size(rng, 2000);
    match rng.random_range(0..5u32) {
        0 => {
            let kernels: String = (0..n).map(|i| format!(".entry k{i}() {{ call f; ret; }}\n")).collect();
            format!(".global .b32 {long};\n.func f() {{ .reg .b64 %d; mov.u64 %d, {long}; ret; }}\n{kernels}")
        }
        1 => {
            let inner: String = (0..n).map(|i| format!(".global .b32 v{i};\n")).collect();
            format!(".func {long}() {{ {inner} ret; }}\n.entry k() {{ call {long}; call {long}; ret; }}\n")
        }
        2 => {
            let uses = format!("mov.b32 %{long}, 1;\n").repeat(n.min(64) as usize);
            format!(".entry {long}() {{ .reg .b32 %{long}; {uses} ret; }}\n")
        }
        3 => {
            let inner: String = (0..n)
                .map(|_| format!("{{ .shared .b32 {}; .local .b8 l[9]; }}\n", &long[..64.min(long.len())]))
                .collect();
            format!(".entry k() {{ {inner} ret; }}\n")
        }
        _ => {
            let uses: String = (0..n.min(64)).map(|i| format!("bogus{i}.u32 %{long};\nmov.b32 {long}, 1;\n")).collect();
            format!(".entry k() {{ {uses} ret; }}\n")
        }
    }
}

/// Returns a kernel whose basic blocks lead anywhere, with registers that live across them.
fn branches(rng: &mut ChaCha8Rng) -> String {
    let n = size(rng, 20_000);
    let n_registers = size(rng, 500);
    let mut text = format!(".entry k() {{ .reg .b32 %r<{n_registers}>; .reg .pred %p<4>;\n");
    let near = rng.random_range(0..3u32);
    for i in 0..n {
        let target = match near {
            0 => rng.random_range(0..n),
            1 => (i + rng.random_range(0..9u32)).saturating_sub(4).min(n - 1),
            _ => n - 1 - i,
        };
        let (a, b) = (rng.random_range(0..n_registers), rng.random_range(0..n_registers));
        let _ = writeln!(text, "l{i}: add.u32 %r{a}, %r{b}, {i}; @%p{} bra l{target};", i % 4);
    }
    text + "ret; }\n"
}

fn tables(rng: &mut ChaCha8Rng) -> String {
    let (n, uses) = (size(rng, 50_000), size(rng, 2000));
    let mut text = ".entry k() { .reg .b32 %r;\n".to_owned();
    let targets: Vec<String> = (0..n).map(|i| format!("l{}", i % 7)).collect();
    let _ = writeln!(text, "t: .branchtargets {};", targets.join(","));
    for i in 0..7 {
        let _ = writeln!(text, "l{i}: {}", "brx.idx %r, t;\n".repeat(uses as usize / 7));
    }
    text + "ret; }\n"
}

/// Returns registers with holes in their lives, which allocation compares with each other.
fn registers(rng: &mut ChaCha8Rng) -> String {
    let (n, rounds) = (size(rng, 20_000), rng.random_range(1..5u32));
    let mut text = String::new();
    for k in 0..rng.random_range(1..4u32) {
        let _ = writeln!(text, ".entry k{k}() {{ .reg .b32 %r<{n}>, %s;");
        for _ in 0..rounds {
            for i in 0..n {
                let _ = writeln!(text, "mov.u32 %r{i}, {i};");
                if rng.random_range(0..3u32) > 0 {
                    let _ = writeln!(text, "add.u32 %s, %s, %r{};", rng.random_range(0..=i));
                }
            }
        }
        text.push_str("ret; }\n");
    }
    text
}

fn blocks(rng: &mut ChaCha8Rng) -> String {
    let depth = size(rng, 300) as usize;
    let lines = size(rng, 200);
    let inner = body(rng, lines);
    let one = format!("{}{inner}{}", "{".repeat(depth), "}".repeat(depth));
    let times = size(rng, 200) as usize;
    format!(".entry k() {{ {} ret; }}\n", one.repeat(times))
}

fn files(rng: &mut ChaCha8Rng) -> String {
    let path = ["Cargo.toml", "kernels/common.cuh", "/dev/zero", "/proc/self/mem", "/", "a.cu", "/dev/stdin.cu"]
        [rng.random_range(0..7usize)];
    let mut text = String::new();
    for i in 0..size(rng, 20_000) {
        let _ = writeln!(
            text,
            ".file {i} \"{path}{}\"",
            if rng.random_range(0..2u32) == 0 { i.to_string() } else { String::new() }
        );
    }
    text + ".entry k() { .loc 1 1 1\n trap; }\n"
}

fn memory(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    let n = size(rng, 100);
    for i in 0..n {
        let bytes = 1u64 << rng.random_range(0..42u32);
        let space = ["global", "const", "shared"][rng.random_range(0..3usize)];
        let align = 1u32 << rng.random_range(0..20u32);
        let _ = writeln!(text, ".{space} .align {align} .b8 m{i}[{bytes}];");
    }
    let local = 1u64 << rng.random_range(0..22u32);
    format!(
        "{text}.entry k() {{ .reg .b64 %d; .reg .b32 %r; .local .align 8 .b8 l[{local}]; mov.u64 %d, m{}; mov.u64 %d, l; st.local.u8 [%d], %r; ret; }}\n",
        rng.random_range(0..n)
    )
}

fn endless(rng: &mut ChaCha8Rng) -> String {
    #[rustfmt::skip]
    let step = [
        "cp.async.ca.shared.global [s], [g], 4;", "call (r), vprintf, (a, b);", "bar.sync 0;",
        "atom.global.add.u32 %r, [g], 0;", "ld.volatile.global.u32 %r, [g];", "nanosleep.u32 100;",
        "{ @%p bra x; x: bar.warp.sync 1; }", "mov.u32 %r, %clock;",
    ][rng.random_range(0..8usize)];
    format!(
        ".global .b32 g[64];\n.global .b8 f[3] = {{37, 100, 0}};\n\
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
         .entry k() {{ .reg .b32 %r; .reg .b64 %d; .reg .pred %p; .shared .b32 s[16];\n\
         .param .b64 a; .param .b64 b; .param .b32 r; mov.u64 %d, f; st.param.b64 [a], %d; st.param.b64 [b], 0;\n\
         again: {step} bra again; }}\n"
    )
}

/// Returns PTX of the repository with characters, words and lines exchanged, lost or doubled.
pub fn damaged_file(seed: u64) -> String {
    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/ptx");
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xda3a6e);
    let files = files_ending_with(Path::new(FOLDER), ".ptx").unwrap_or_default();
    if files.is_empty() {
        return String::new();
    }
    let text = std::fs::read_to_string(&files[rng.random_range(0..files.len())]).unwrap_or_default();
    crate::torture::damage(&text, &mut rng)
}
