use crate::{Symbols, decode};
use arithmetic::lanes::CpuLevel;

/// Checks the widths of the shared loads after merging, with the offsets that each stands for. `lines` use `%a`, an
/// address that is a multiple of 64, and `%b`, one of 4.
#[track_caller]
fn check(lines: &str, want: &str) {
    check_of("ld.shared", lines, want);
}

#[track_caller]
fn check_stores(lines: &str, want: &str) {
    check_of("st.shared", lines, want);
}

#[track_caller]
fn check_of(what: &str, lines: &str, want: &str) {
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
    assert_eq!(got.join(" "), want, "{lines}");
}

fn words(base: &str, offsets: &[i32]) -> String {
    let one = |(i, o): (usize, &i32)| format!("ld.shared.f32 %f{i}, [{base}+{o}];\n");
    offsets.iter().enumerate().map(one).collect()
}

#[test]
fn windows_of_sixteen_bytes() {
    check(&words("%a", &[0, 4, 8, 12]), "16-0 (16-4) (16-8) (16-12)");
    check(&words("%a", &[12, 8, 4, 0]), "16-12 (16-8) (16-4) (16-0)");
    check(&words("%a", &[4, 8, 12]), "16-4 (16-8) (16-12)");
    check(&words("%a", &[0, 4, 12]), "16-0 (16-4) (16-12)");
    check(&words("%a", &[0, 4]), "8-0 (8-4)");
    check(&words("%a", &[8, 12]), "8-0 (8-4)");
    check(&words("%a", &[4, 8]), "alone alone");
    check(&words("%a", &[0, 12]), "alone alone");
    check(&words("%a", &[4, 8, 12, 16]), "16-4 (16-8) (16-12) alone");
    check(&words("%a", &[0, 64, 128]), "alone alone alone");
    check(&words("tile", &[16, 20, 24, 28]), "16-0 (16-4) (16-8) (16-12)");
}

#[test]
fn provable_alignment() {
    check(&words("%b", &[0, 4, 8, 12]), "alone alone alone alone");
    check(&format!("mad.lo.u64 %a, %b, 8, %c;\n{}", words("%a", &[0, 4, 8])), "16-0 (16-4) (16-8)");
    check(&format!("mul.wide.u32 %a, %r1, 8; add.s64 %a, %c, %a;\n{}", words("%a", &[0, 4, 8])), "8-0 (8-4) alone");
    check(&format!("mul.wide.u32 %a, %r1, 80; add.s64 %a, %c, %a;\n{}", words("%a", &[0, 4])), "8-0 (8-4)");
    check(&format!("and.b32 %r2, %r1, 1008;\n{}", words("%r2", &[0, 4])), "8-0 (8-4)");
    check(
        "add.s64 %b, %a, 8; ld.shared.f32 %f1, [%a]; ld.shared.f32 %f2, [%b]; ld.shared.f32 %f3, [%b+4];",
        "alone alone alone",
    );
}

#[test]
fn accesses_between_loads() {
    let around = |middle: &str| format!("{}\n{middle}\n{}", words("%a", &[0, 4]), words("%a", &[8, 12]));
    check(&around("st.shared.f32 [tile+2048], %f1;"), "8-0 (8-4) 8-0 (8-4)");
    check(&around("bar.sync 0;"), "8-0 (8-4) 8-0 (8-4)");
    check(&around("st.global.f32 [%b], %f1;"), "16-0 (16-4) (16-8) (16-12)");
    check(&around("add.s64 %a, %a, 64;"), "8-0 (8-4) 8-0 (8-4)");
    check(&around("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;"), "16-0 (16-4) (16-8) (16-12)");
    check(&around("red.global.add.f32 [%b], %f1;"), "16-0 (16-4) (16-8) (16-12)");
    check(&around("sqrt.rn.f32 %f9, %f8;"), "8-0 (8-4) 8-0 (8-4)");
    check(&around("sqrt.approx.f32 %f9, %f8;"), "16-0 (16-4) (16-8) (16-12)");
}

#[test]
fn other_widths() {
    check("ld.shared.v2.f32 {%f1, %f2}, [%a]; ld.shared.f32 %f3, [%a+8];", "16-0 (16-8)");
    check("ld.shared.f64 %d1, [%a]; ld.shared.f64 %d2, [%a+8];", "16-0 (16-8)");
    check("ld.shared.f64 %d1, [%a]; ld.shared.f32 %f2, [%a+8];", "alone alone");
    check("ld.shared.u8 %r1, [%a]; ld.shared.u8 %r2, [%a+1];", "alone alone");
    check("ld.volatile.shared.f32 %f1, [%a]; ld.volatile.shared.f32 %f2, [%a+4];", "");
    check("@%p ld.shared.f32 %f1, [%a+4]; @%p ld.shared.f32 %f2, [%a];", "8-4 (8-0)");
    check("@%p ld.shared.f32 %f1, [%a]; ld.shared.f32 %f2, [%a+4];", "alone alone");
}

#[test]
fn loads_in_other_blocks() {
    let around = |middle: &str| format!("{}\n{middle}\n{}", words("%a", &[0, 4]), words("%a", &[8, 12]));
    let together = "16-0 (16-4) (16-8) (16-12)";
    check(&around("@%p bra l; l:"), together);
    check(&around("@%p bra l; st.global.f32 [%b], %f1; l:"), together);
    check(&around("l: st.global.f32 [%b], %f1; @%p bra l;"), together);
    check(&format!("{}\nl:", around("@%p bra l;")), together);
    // Memory may change on one of the paths, or in the loop.
    let apart = "8-0 (8-4) 8-0 (8-4)";
    check(&around("@%p bra l; st.shared.f32 [%a+64], %f1; l:"), apart);
    check(&around("l: bar.sync 0; @%p bra l;"), apart);
    // The earlier loads do not dominate the later ones.
    let either = |middle: &str| format!("@%p bra l;\n{}\n{middle}\n{}", words("%a", &[0, 4]), words("%a", &[8, 12]));
    check(&either("l:"), apart);
    check(&format!("{}\nm:", either("bra m; l:")), apart);
}

#[test]
fn repeated_loads() {
    check(&words("%a", &[0, 0]), "4-0 (4-0)");
    check(&words("%b", &[0, 4, 0]), "4-0 alone (4-0)");
    check(&words("%a", &[0, 8, 8]), "alone 4-0 (4-0)");
    check("ld.shared.v2.f32 {%f1, %f2}, [%a]; ld.shared.f32 %f3, [%a+4];", "8-0 (8-4)");
    check("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%b]; ld.shared.f32 %f5, [%b+4];", "16-0 (16-4)");
    check("ld.shared.u8 %r2, [%a]; ld.shared.u8 %r3, [%a];", "1-0 (1-0)");
}

fn stores(base: &str, offsets: &[i32]) -> String {
    let one = |(i, o): (usize, &i32)| format!("st.shared.f32 [{base}+{o}], %f{i};");
    offsets.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn windows_of_stores() {
    check_stores(&stores("%a", &[0, 4, 8, 12]), "16-0 (16-4) (16-8) (16-12)");
    check_stores(&stores("%a", &[12, 8, 4, 0]), "16-12 (16-8) (16-4) (16-0)");
    check_stores(&stores("%a", &[0, 8, 4, 12]), "16-0 (16-8) (16-4) (16-12)");
    check_stores(&stores("%a", &[0, 4]), "8-0 (8-4)");
    check_stores(&stores("%a", &[0, 4, 8]), "8-0 (8-4) alone");
    check_stores(&stores("%a", &[4, 8, 12]), "alone 8-0 (8-4)");
    check_stores(&stores("%a", &[0, 4, 12]), "8-0 (8-4) alone");
    check_stores(&stores("%a", &[4, 8]), "alone alone");
    check_stores(&stores("%a", &[0, 12]), "alone alone");
    check_stores(&stores("%a", &[0, 4, 8, 12, 16, 20]), "16-0 (16-4) (16-8) (16-12) 8-0 (8-4)");
    check_stores(&stores("%b", &[0, 4, 8, 12]), "alone alone alone alone");
    check_stores(&stores("tile", &[16, 20, 24, 28]), "16-0 (16-4) (16-8) (16-12)");
}

#[test]
fn accesses_between_stores() {
    let around = |middle: &str| format!("{}\n{middle}\n{}", stores("%a", &[0, 4]), stores("%a", &[8, 12]));
    let (together, apart) = ("16-0 (16-4) (16-8) (16-12)", "8-0 (8-4) 8-0 (8-4)");
    check_stores(&around("st.global.f32 [%b], %f1; ld.global.f32 %f9, [%b];"), together);
    check_stores(&around("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;"), together);
    check_stores(&around("red.global.add.f32 [%b], %f1;"), together);
    check_stores(&around("ld.shared.f32 %f9, [%a+64];"), apart);
    check_stores(&around("ld.f32 %f9, [%b];"), apart);
    check_stores(&around("atom.shared.add.u32 %r3, [%a+64], 1;"), apart);
    check_stores(&around("bar.sync 0;"), apart);
    check_stores(&around("@%p bra l; l:"), apart);
    check_stores(&around("cp.async.commit_group;"), apart);
    check_stores(&around("div.rn.f32 %f9, %f8, %f7;"), apart);
    check_stores(&stores("%a", &[0, 4, 64, 8, 12]), "8-0 (8-4) alone 8-0 (8-4)");
    check_stores(&stores("%a", &[0, 64, 4, 68]), "alone alone alone alone");
    check_stores(&stores("%a", &[0, 4, 0, 8, 12]), "8-0 (8-4) alone 8-0 (8-4)");
}

#[test]
fn other_stores() {
    check_stores("st.shared.f64 [%a+8], %d1; st.shared.f64 [%a], %d2;", "16-8 (16-0)");
    check_stores("st.shared.v2.f32 [%a], {%f1, %f2}; st.shared.v2.f32 [%a+8], {%f1, %f2};", "16-0 (16-8)");
    check_stores(
        "st.shared.v2.f32 [%a], {%f1, %f2}; st.shared.f32 [%a+8], %f3; st.shared.f32 [%a+12], %f3;",
        "alone alone alone",
    );
    check_stores(
        "st.shared.f32 [%a+8], %f3; st.shared.f32 [%a+12], %f3; st.shared.v2.f32 [%a], {%f1, %f2};",
        "16-8 (16-12) (16-0)",
    );
    check_stores("st.shared.f64 [%a], %d1; st.shared.f32 [%a+8], %f3; st.shared.f32 [%a+12], %f3;", "alone 8-0 (8-4)");
    check_stores("st.shared.u8 [%a], %r1; st.shared.u8 [%a+1], %r2;", "alone alone");
    check_stores("st.shared.u16 [%a], %h1; st.shared.u16 [%a+2], %h2;", "4-0 (4-2)");
    check_stores("st.volatile.shared.f32 [%a], %f1; st.volatile.shared.f32 [%a+4], %f2;", "");
    check_stores("@%p st.shared.f32 [%a], %f1; @%p st.shared.f32 [%a+4], %f2;", "alone alone");
}
