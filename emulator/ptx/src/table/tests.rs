//! Tests of the table.

use super::*;

fn module(body: &str) -> Module {
    let text = format!(".version 8.4\n.target sm_90\n.address_size 64\n.entry f() {{\n{body}\n}}");
    crate::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn patterns_expand_in_order() {
    assert_eq!(expand("add{,.sat}.s32"), ["add.s32", "add.sat.s32"]);
    assert_eq!(expand("x{.a,.b.c}.d{.e,.f}"), ["x.a.d.e", "x.a.d.f", "x.b.c.d.e", "x.b.c.d.f"]);
    assert_eq!(expand("mma.*"), ["mma"]);
}

#[test]
fn operand_lists_are_counted() {
    let check = |operands, least, most| assert_eq!(arity(operands), least..=most, "{operands}");
    use super::pattern::arity;
    check("", 0, 0);
    check("d, a, b", 3, 3);
    check("d, [a, c]{, e}", 2, 3);
    check("{(ret), }func{, (args)}{, proto}", 1, 4);
    check("d|p, membermask", 2, 2);
    check("{[a], size}", 0, 2);
}

#[test]
fn every_form_is_found_in_its_own_row() {
    let mut n_forms = 0;
    for row in rows().iter().filter(|row| row.is_supported() && row.n_forms() <= 4096) {
        for mnemonic in expand(row.pattern) {
            let mut words = mnemonic.split('.');
            let opcode = words.next().unwrap_or_default();
            let modifiers: Vec<&str> = words.collect();
            let found: Vec<&str> = matching(opcode, &modifiers)
                .filter(|found| found.arity() == row.arity() && found.is_supported())
                .map(|found| found.pattern)
                .collect();
            assert_eq!(found, [row.pattern], "{mnemonic}");
            n_forms += 1;
        }
    }
    assert!(n_forms > 2000, "{n_forms}");
}

#[test]
fn the_table_is_whole() {
    let lines = TEXTS.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with(' '));
    assert!(lines.clone().all(|line| line.split("  ").filter(|column| !column.trim().is_empty()).count() == 3));
    assert_eq!(rows().len(), lines.count());
    assert!(rows().iter().filter(|row| row.is_supported()).count() >= 250);
}

#[test]
fn only_refused_rows_are_open_ended() {
    for row in rows().iter().filter(|row| row.is_supported()) {
        assert!(!row.pattern.contains('*'), "{}", row.pattern);
    }
}

#[test]
fn messages() {
    let check = |body: &str, expected: &str| {
        let found = check(&module(body)).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert_eq!(found, expected);
    };
    check("add.s32 %r1, %r2, 5;", "");
    check("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];", "");
    check("ld.weak.shared::cta.u32 %r1, [s];", "");
    check("cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 16, 8;", "");
    check("atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], 0, 1;", "");
    check("add.s33 %r1, %r2, 5;", "line 5, column 1: unknown instruction `add.s33`; did you mean `add.s32`?");
    check("ad.s32 %r1, %r2, 5;", "line 5, column 1: unknown instruction `ad.s32`; did you mean `add.s32`?");
    check("fma.f32 %f1, 1, 2, 3;", "line 5, column 1: unknown instruction `fma.f32`; did you mean `fma.rn.f32`?");
    check("frobnicate.f32 %f1;", "line 5, column 1: unknown instruction `frobnicate.f32`");
    check("add.s32 %r1, %r2;", "line 5, column 1: `add.s32` takes 3 operands (d, a, b), found 2");
    check("bar.arrive 0;", "line 5, column 1: `bar.arrive` takes 2 operands (a, b), found 1");
    check(
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 d, a, b, c;",
        "line 5: `mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32` (it came with compute capability \
         12.0, and the emulated device has 9.0) is not supported",
    );
    check(
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3];",
        "line 5: `ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8` (it came with compute capability 10.0, and the \
         emulated device has 9.0) is not supported",
    );
    check(
        "mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1}, {%r1}, {%r2}, {%r3};",
        "line 5, column 1: unknown instruction `mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32`; did you mean \
         `mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32`?",
    );
    check("min.f32 %f1, %f2, %f3, %f4;", "line 5: `min.f32` (three inputs are not emulated yet) is not supported");
    check(
        "ld.global.v8.f32 {%f1}, [%rd1];",
        "line 5: `ld.global.v8.f32` (accesses wider than 128 bits and 128-bit registers are not emulated yet) is \
         not supported",
    );
}

#[test]
fn modifiers_in_any_order_have_the_manuals() {
    // ptxas 12.4 takes each of these.
    let check = |written: &str, canonical: &str| {
        let mut module = module(&format!("{written} %x;"));
        canonicalise(&mut module);
        let Some(Item::Function(function)) = module.items.last() else {
            panic!("a function");
        };
        let Some([Statement::Instruction(instruction)]) = function.body.as_deref() else {
            panic!("an instruction");
        };
        assert_eq!(instruction.mnemonic(), canonical);
    };
    check("add.s32.sat", "add.sat.s32");
    check("div.ftz.rn.f32", "div.rn.ftz.f32");
    check("div.ftz.approx.f32", "div.approx.ftz.f32");
    check("setp.ftz.lt.f32", "setp.lt.ftz.f32");
    check("setp.and.lt.s32", "setp.lt.and.s32");
    check("cvt.sat.ftz.f32.f32", "cvt.ftz.sat.f32.f32");
    check("cvt.f32.f64.rn", "cvt.rn.f32.f64");
    check("min.NaN.ftz.f32", "min.ftz.NaN.f32");
    check("set.u32.ftz.lt.f32", "set.lt.ftz.u32.f32");
    check("shfl.down.sync.b32", "shfl.sync.down.b32");
    check("ld.shared.volatile.f32", "ld.volatile.shared.f32");
    check("ld.nc.global.f32", "ld.global.nc.f32");
    check("atom.add.release.gpu.u32", "atom.release.gpu.add.u32");
    check("ldmatrix.sync.aligned.x4.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16");
    check("ldmatrix.b16.sync.shared.trans.x2.aligned.m8n8", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
    check("stmatrix.sync.aligned.x2.m8n8.shared.b16", "stmatrix.sync.aligned.m8n8.x2.shared.b16");
    check("movmatrix.trans.sync.aligned.b16.m8n8", "movmatrix.sync.aligned.m8n8.trans.b16");
    check("mma.sync.aligned.row.col.m16n8k16.f32.bf16.bf16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    check(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32.satfinite",
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32",
    );
    check(
        "mma.sync.aligned.m16n8k256.row.col.xor.popc.s32.b1.b1.s32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
    );
    check("mma.f32.sync.aligned.m16n8k32.row.e4m3.col.e5m2.f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32");
    check(
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
        "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64",
    );
    check(
        "wmma.mma.col.sync.aligned.row.m8n8k4.f64.f64.f64.f64",
        "wmma.mma.sync.aligned.col.row.m8n8k4.f64.f64.f64.f64",
    );
    check("wmma.load.a.f16.sync.shared.aligned.m16n16k16.row", "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16");
    check("wgmma.mma_async.sync.aligned.f32.bf16.bf16.m64n8k16", "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16");
    check("mbarrier.arrive.expect_tx.b64.shared", "mbarrier.arrive.expect_tx.shared.b64");
    check(
        "cp.async.bulk.tensor.shared::cluster.global.2d.tile.mbarrier::complete_tx::bytes",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    );
    // ptxas does not take these: types, layouts and spaces keep their order, and names their place.
    check("mul.u32.lo", "mul.u32.lo");
    check("shf.wrap.l.b32", "shf.wrap.l.b32");
    check("cvt.rn.f64.f32.f32", "cvt.rn.f64.f32.f32");
    let same = |written: &str| check(written, written);
    same("mma.sync.aligned.m16n8k16.col.row.f32.bf16.bf16.f32");
    same("mma.sync.aligned.row.col.m16n8k16.bf16.f32.bf16.f32");
    same("wmma.sync.mma.aligned.row.col.m8n8k4.f64.f64.f64.f64");
    same("wmma.load.sync.a.aligned.row.m16n16k16.shared.f16");
    same("mbarrier.try_wait.shared.parity.b64");
    same("cp.async.ca.global.shared");
    same("fence.async.proxy");
}
