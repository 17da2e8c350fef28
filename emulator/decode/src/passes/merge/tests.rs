use crate::{Symbols, decode};
use arithmetic::lanes::CpuLevel;

/// Returns accesses of consecutive registers, such as `<%a: 0 4>`: of words at these distances from a base.
fn accesses(what: &str, of: &str) -> String {
    let (base, offsets) = of.split_once(": ").expect("a base and distances");
    let access = |(i, offset)| match what {
        "ld.shared" => format!("ld.shared.f32 %f{i}, [{base}+{offset}];\n"),
        _ => format!("st.shared.f32 [{base}+{offset}], %f{i};\n"),
    };
    offsets.split(' ').enumerate().map(access).collect()
}

/// Checks a table of kernel bodies, which use `%a`, an address that is a multiple of 64, and `%b`, one of 4.
fn check_rows(what: &str, table: &str) {
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let (lines, want) = row.split_once(" =>").expect("an arrow");
        let parts = lines.split(['<', '>']).enumerate();
        let lines = parts.map(|(i, part)| if i % 2 == 1 { accesses(what, part) } else { part.to_owned() });
        assert_eq!(merged(what, &lines.collect::<String>()), want.trim_start(), "{row}");
    }
}

#[test]
fn loads_merge_as_by_ptxas() {
    check_rows("ld.shared", include_str!("tests/loads.txt"));
}

#[test]
fn stores_merge_as_by_ptxas() {
    check_rows("st.shared", include_str!("tests/stores.txt"));
}

/// Returns width and offset of each shared access after merging; in brackets where an earlier one accesses it.
fn merged(what: &str, lines: &str) -> String {
    let text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .f32 %f<16>; .reg .f64 %d<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %a, %b, %c, %s; .reg .pred %p;\n\
         .shared .align 4 .b8 tile[4096];\n\
         mov.u32 %r1, %tid.y; mov.u64 %c, tile; mul.wide.u32 %s, %r1, 64; add.s64 %a, %c, %s;\n\
         mul.wide.u32 %b, %r1, 4; add.s64 %b, %c, %b; setp.gt.u32 %p, %r1, 3;\n{lines}\nret;\n}}\n"
    );
    let module = ptx::parse(&text).expect("parses");
    let program = decode(&module, &Symbols::new(), CpuLevel::Baseline, &Default::default()).expect("decodes");
    let instrs = &program.kernels[0].instrs;
    let mut got = Vec::new();
    for (at, instr) in instrs.iter().enumerate().filter(|(_, i)| i.text.contains(what)) {
        match instr.merge {
            None => got.push("alone".to_owned()),
            Some(m) if m.leader == at as u32 => got.push(format!("{}-{}", m.bytes, m.back)),
            Some(m) => got.push(format!("({}-{})", m.bytes, m.back)),
        }
    }
    got.join(" ")
}
