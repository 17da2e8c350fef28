//! Small kernels with neighbouring accesses to shared memory, and how wide those in the machine code are.
//!
//! `tests/data/sass/shared_patterns.txt` has one line per kernel: the counts that `tests/tools/machine_code.rs` got
//! from ptxas, and the kernel's text, which [`kernel`] makes a kernel of.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use program::{DecodedKernel, MemSpace, OpKind};

/// Loads of up to 4, of 8 and of 16 bytes per lane; then stores.
pub type Widths = [usize; 6];

pub fn line(widths: &Widths, pattern: &str) -> String {
    let counts: Vec<String> = widths.iter().map(usize::to_string).collect();
    format!("{} | {pattern}", counts.join(" "))
}

pub fn lines(text: &str) -> impl Iterator<Item = (Option<Widths>, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| match line.split_once(" | ") {
        Some((counts, pattern)) => {
            let counts: Vec<usize> = counts.split(' ').filter_map(|n| n.parse().ok()).collect();
            (counts.try_into().ok(), pattern)
        }
        None => (None, line),
    })
}

/// Returns the key of a count: loads or stores, and bytes per lane.
pub fn column(store: bool, bytes: u8) -> usize {
    let width = match bytes {
        16 => 2,
        8 => 1,
        _ => 0,
    };
    width + if store { 3 } else { 0 }
}

pub fn merged(kernel: &DecodedKernel) -> Widths {
    let mut counts = Widths::default();
    let mut leaders = BTreeSet::new();
    for op in kernel.ops.iter().filter(|op| op.first) {
        let (OpKind::Load(access) | OpKind::Store(access)) = &op.kind else { continue };
        if access.space != MemSpace::Shared {
            continue;
        }
        let bytes = match kernel.instrs[op.instr as usize].merge {
            Some(group) if !leaders.insert(group.leader) => continue,
            Some(group) => group.bytes,
            None => access.element * access.n,
        };
        counts[column(matches!(op.kind, OpKind::Store(_)), bytes)] += 1;
    }
    counts
}

pub const HEADER: &str = ".version 8.4\n.target sm_80\n.address_size 64\n";

/// Returns PTX of one kernel. `use R;` stores a register where it can be seen.
pub fn kernel(name: &str, pattern: &str) -> String {
    let mut text = format!(".visible .entry {name}(.param .u64 data)\n{{\n{REGISTERS}");
    for at in 0..8 {
        let _ = writeln!(
            text,
            "ld.global.f32 %f{at}, [%data+{}]; ld.global.u32 %r{at}, [%data+{}]; ld.global.f64 %d{at}, [%data+{}]; \
             ld.global.u16 %h{at}, [%data+{}];",
            128 * at,
            4096 + 128 * at,
            8192 + 256 * at,
            16384 + 64 * at
        );
    }
    for (at, statement) in pattern.split("use ").enumerate() {
        if at == 0 {
            text.push_str(statement);
            continue;
        }
        let (register, rest) = statement.split_once(';').unwrap_or((statement, ""));
        let ty = match register.as_bytes().get(1) {
            Some(b'f') => "f32",
            Some(b'd') => "f64",
            Some(b'h') => "u16",
            Some(b'x') => "u64",
            _ => "u32",
        };
        let _ = write!(text, "st.global.{ty} [%out+{}], {register};{rest}", 65536 + 512 * at);
    }
    text.push_str("\nret;\n}\n");
    text
}

/// `%a`, `%a8`, `%a4`: places in shared memory that are multiples of 64, 8 and 4; `%b`: another one.
const REGISTERS: &str = include_str!("machine_code.ptx");
