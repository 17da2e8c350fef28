//! Carry chains that go from one family of instructions to another and from one width to the other.

use std::fmt::Write as _;

use ptx::table::Row;

use super::Fixture;
use super::inputs::{self, Kind, inputs};
use super::memory::fixture;
use crate::each;

/// The form whose row the chains are listed under.
const FORM: &str = "add.cc.u32";
const CHAINS: u64 = 40;
const THREADS: usize = 64;
/// Instructions of a random chain; each gives a result, and so does the carry at the end.
const STEPS: usize = 7;

/// Names and texts of chains that say by themselves what the flag is; `X` and `Y` are inputs of 32 bits, `V` and `W`
/// of 64.
const PLAIN: &str = include_str!("chains.txt");

pub(super) fn fixtures(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    if mnemonic != FORM {
        return Vec::new();
    }
    let mut inputs = inputs([Kind::Of(ptx::ast::Type::U64); 3]);
    inputs.iter_mut().for_each(|list| list.truncate(THREADS));
    let make = |name: &str, outs: usize, body: String| Fixture {
        inputs: inputs.clone(),
        ..fixture(row, &format!("{FORM}#{name}"), String::new(), body, outs)
    };
    let plain = PLAIN.lines().filter_map(|line| line.split_once(" | ")).map(|(name, text)| {
        let registers = [("X", "%r1"), ("Y", "%r2"), ("V", "%a"), ("W", "%b")];
        let text = registers.iter().fold(text.to_string(), |text, (letter, register)| text.replace(letter, register));
        let mut body = START.to_string();
        for line in text.split_inclusive("; ") {
            let _ = writeln!(body, "    {}", line.trim());
        }
        body += &each(2, |k| format!("    cvt.u64.u32 %d10, %r{};\n    st.global.b64 [%O+{}], %d10;\n", k + 5, 8 * k));
        make(name, 2, body)
    });
    let random = (0..CHAINS).map(|seed| make(&format!("chain-{seed:02}"), STEPS + 1, chain(seed)));
    plain.chain(random).collect()
}

/// `%r1 %r2 %r3`: low halves of the inputs; the next three: their high halves.
const START: &str = "    mov.b64 {%r1, %r11}, %a;\n    mov.b64 {%r2, %r12}, %b;\n    mov.b64 {%r3, %r13}, %c;\n";

fn chain(seed: u64) -> String {
    let mut random = inputs::random(100 + seed);
    let mut below = |n: u64| random.next_u64() % n;
    let mut body = START.to_string();
    for step in 0..STEPS {
        let ty = ["u32", "u32", "s32", "u64", "s64"][below(5) as usize];
        let wide = ty.ends_with("64");
        let reads = step > 0;
        // Some instructions read the flag and leave it as it is.
        let writes = if step == 0 || below(4) != 0 { ".cc" } else { "" };
        let (opcode, n) = match below(5) {
            0 | 1 => ("add", 2),
            2 | 3 => ("sub", 2),
            _ => (["mad.lo", "mad.hi"][below(2) as usize], 3),
        };
        // Now and then a chain starts again in the middle.
        let opcode = match (reads && below(6) != 0, opcode.split_once('.')) {
            (false, _) => format!("{opcode}.cc"),
            (true, Some((mad, half))) => format!("{mad}c.{half}{writes}"),
            (true, None) => format!("{opcode}c{writes}"),
        };
        let mut operands = String::new();
        for _ in 0..n {
            let pick = below(10) as usize;
            let _ = match (pick, wide) {
                (0, _) => write!(operands, ", {}", below(3)),
                (1, _) => write!(operands, ", -1"),
                (2 | 3, true) if step > 0 => write!(operands, ", %d{}", 14 + below(step as u64)),
                (2 | 3, false) if step > 0 => write!(operands, ", %r{}", 14 + below(step as u64)),
                (_, true) => write!(operands, ", {}", ["%a", "%b", "%c"][pick % 3]),
                (_, false) => {
                    write!(operands, ", {}", ["%r1", "%r2", "%r3", "%r11", "%r12", "%r13"][pick % 6])
                }
            };
        }
        let at = 14 + step;
        let _ = if wide {
            writeln!(body, "    {opcode}.{ty} %d{at}{operands};\n    cvt.u32.u64 %r{at}, %d{at};")
        } else {
            writeln!(body, "    {opcode}.{ty} %r{at}{operands};\n    cvt.u64.u32 %d{at}, %r{at};")
        };
    }
    let _ = writeln!(body, "    addc.u32 %r9, 0, 0;\n    cvt.u64.u32 %d9, %r9;");
    body += &each(STEPS, |k| format!("    st.global.b64 [%O+{}], %d{};\n", 8 * k, 14 + k));
    let _ = writeln!(body, "    st.global.b64 [%O+{}], %d9;", 8 * STEPS);
    body
}
