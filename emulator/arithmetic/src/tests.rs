//! Properties of all forms: the instruction table is covered, levels agree, masked lanes keep their values.

use super::*;
use crate::lanes::{AluArgs, Lanes, Line, NONE};
use proptest::prelude::*;

fn is_arithmetic(section: &str) -> bool {
    [
        "Integer arithmetic",
        "Extended-precision",
        "Floating point",
        "Half precision",
        "Comparison and selection",
        "Half-precision comparison",
        "Logic and shift",
        "Conversion: cvt",
        "Data movement: mov",
        "Data movement: prmt",
    ]
    .iter()
    .any(|start| section.starts_with(start))
}

/// Mnemonics that the table calls supported and that work on registers only.
fn mnemonics() -> Vec<(String, &'static ptx::table::Row)> {
    let rows = ptx::table::rows().iter();
    let rows = rows.filter(|row| row.is_supported() && is_arithmetic(row.section));
    rows.flat_map(|row| {
        ptx::table::expand(row.pattern)
            .into_iter()
            // Moves of vectors are several moves.
            .filter(|text| !text.starts_with("mov.v"))
            .map(move |text| (text, row))
    })
    .collect()
}

fn form_of(mnemonic: &str, part: ResultPart, level: CpuLevel) -> Option<Form> {
    let mut words = mnemonic.split('.');
    let opcode = words.next()?;
    let modifiers: Vec<&str> = words.collect();
    lookup(opcode, &modifiers, part, level)
}

#[test]
fn every_supported_row_has_functions() {
    let mut missing = Vec::new();
    for (text, row) in mnemonics() {
        match form_of(&text, ResultPart::First, CpuLevel::Baseline) {
            None => missing.push(text.clone()),
            Some(form) => {
                let carry = matches!(row.pattern.split(['.', '{']).next(), Some("addc" | "subc" | "madc"));
                let n = row.arity().end() - 1 + carry as usize;
                assert_eq!(form.srcs.len(), n, "sources of {text}");
            }
        }
        let two = row.operands.contains('|') || text.contains(".cc.") || text.starts_with("setp.");
        if two && form_of(&text, ResultPart::Second, CpuLevel::Baseline).is_none() {
            missing.push(format!("{text}, second result"));
        }
    }
    assert!(missing.is_empty(), "{} missing: {missing:#?}", missing.len());
}

#[test]
fn missing_instructions_have_no_form() {
    for text in ["add.f128", "add.ftz.f64", "fma.f32", "cvt.f32.s32", "cvt.rn.s32.s32", "setp.lo.s32", "frob.u32"] {
        assert!(form_of(text, ResultPart::First, CpuLevel::Baseline).is_none(), "{text}");
    }
}

/// Registers for one instruction: four sources of two lines, a result of two lines.
struct Bench {
    regs: Vec<Line>,
    consts: Vec<Line>,
    preds: Vec<u32>,
}

const DST: u32 = 8;

impl Bench {
    fn run(&mut self, form: Form, mask: u32, dst_on_source: Option<usize>) -> (Vec<u32>, u32) {
        let mut src = [NONE; 4];
        for (at, (place, class)) in src.iter_mut().zip(form.srcs).enumerate() {
            *place = match class {
                Class::Pred => 2 + at as i32,
                _ => 2 * at as i32,
            };
        }
        if form.srcs.len() < 4 {
            src[3] = form.variant;
        }
        let dst = match (form.dst, dst_on_source) {
            (Class::Pred, Some(at)) if form.srcs.get(at) == Some(&Class::Pred) => 2 + at as u32,
            (Class::Pred, _) => 7,
            (class, Some(at)) if form.srcs.get(at) == Some(&class) => 2 * at as u32,
            _ => DST,
        };
        let mut lanes =
            Lanes { regs: self.regs.as_mut_ptr(), consts: self.consts.as_ptr(), preds: self.preds.as_mut_ptr() };
        // SAFETY: ten lines and eight predicates, and the form's level is one that the CPU has.
        unsafe { (form.run)(&mut lanes, &AluArgs { dst, src }, mask) };
        let lines = match form.dst {
            Class::Pred => vec![],
            Class::Bits32 => self.regs[dst as usize].0.to_vec(),
            Class::Bits64 => self.regs[dst as usize..dst as usize + 2].iter().flat_map(|line| line.0).collect(),
        };
        (lines, if form.dst == Class::Pred { self.preds[dst as usize] } else { 0 })
    }
}

fn bench(words: &[u32], n_small: usize) -> Bench {
    let mut regs = vec![Line([0; 32]); 10];
    let mut words = words.iter().copied().cycle();
    for (at, line) in regs.iter_mut().enumerate() {
        for lane in &mut line.0 {
            *lane = words.next().unwrap_or(0);
            // Shift amounts and the like matter when small.
            if at >= 8 - n_small && at < 8 {
                *lane %= 70;
            }
        }
    }
    let preds = (0..8).map(|_| words.next().unwrap_or(0)).collect();
    Bench { regs, consts: vec![Line([0; 32]); 2], preds }
}

/// Returns the words with many special values of all formats in them.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => any::<u32>(),
        1 => prop::sample::select(vec![
            0, 1, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000,
            0x7fc0_0000, 0x7f80_0001, 0x007f_ffff, 0x0080_0000, 0x7ff0_0000, 0xfff8_0000, 0x3ff0_0000,
            0x7c00_3c00, 0xfe00_8000, 0x0001_7bff, 0x4f00_0000, 0x4f80_0000, 0xcf00_0000, 0x5f00_0000,
        ]),
        1 => (any::<bool>(), 0x60u32..0xa0, any::<u32>()).prop_map(|(s, e, f)| (s as u32) << 31 | e << 23 | f >> 9),
        1 => 0u32..70,
    ]
}

fn levels() -> Vec<CpuLevel> {
    let all = [CpuLevel::Baseline, CpuLevel::Avx2, CpuLevel::Avx512];
    all.into_iter().filter(|level| *level <= cpu_level()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..Default::default() })]

    /// One lane at a time, all lanes at once, some lanes, in place, and every level give equal bits.
    #[test]
    fn levels_and_masks_agree(words in prop::collection::vec(word(), 41..331), mask in any::<u32>(), small in 0usize..3) {
        for (text, _) in mnemonics() {
            let part = if text.contains(".cc.") { ResultPart::Second } else { ResultPart::First };
            let reference = form_of(&text, part, CpuLevel::Baseline).unwrap();
            let mut lane_by_lane = bench(&words, 2 * small);
            let mut expected = (vec![], 0);
            for lane in 0..32 {
                expected = lane_by_lane.run(reference, 1 << lane, None);
            }
            let before = bench(&words, 2 * small);
            for level in levels() {
                let form = form_of(&text, part, level).unwrap();
                let got = bench(&words, 2 * small).run(form, u32::MAX, None);
                prop_assert_eq!(&got, &expected, "{} at {:?}", &text, level);
                for at in 0..form.srcs.len() {
                    let got = bench(&words, 2 * small).run(form, u32::MAX, Some(at));
                    prop_assert_eq!(&got, &expected, "{} at {:?}, in place of source {}", &text, level, at);
                }
                let (lines, pred) = bench(&words, 2 * small).run(form, mask, None);
                let old = |at: usize| match form.dst {
                    Class::Bits64 => before.regs[DST as usize + at / 32].0[at % 32],
                    _ => before.regs[DST as usize].0[at],
                };
                for (at, word) in lines.iter().enumerate() {
                    let lane = if form.dst == Class::Bits64 { at / 2 } else { at };
                    let active = mask >> lane & 1 == 1;
                    let wanted = if active { expected.0[at] } else { old(at) };
                    prop_assert_eq!(*word, wanted, "{} at {:?}, masked, lane {}", &text, level, lane);
                }
                if form.dst == Class::Pred {
                    prop_assert_eq!(pred, (expected.1 & mask) | (before.preds[7] & !mask));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..Default::default() })]

    /// Products by 1.5 lie half-way between two numbers, where what is added decides.
    #[test]
    fn sums_in_f64_are_rounded_once(a in word(), b in prop_oneof![word(), Just(1.5f32.to_bits())], c in word()) {
        let [a, b, c] = [a, b, c].map(f32::from_bits);
        let once = [a.mul_add(b, c), float::mul_add_by_f64(a, b, c)].map(|x| float::canonical(x).to_bits());
        prop_assert_eq!(once[0], once[1], "{} {} {}", a, b, c);
    }
}

/// Returns the result for operands given as bits, equal on all levels.
pub(super) fn scalar(mnemonic: &str, operands: &[u64], part: ResultPart) -> u64 {
    let mut results = levels().into_iter().map(|level| (level, scalar_at(mnemonic, operands, part, level)));
    let (_, first) = results.next().expect("there is a baseline");
    for (level, other) in results {
        assert_eq!(first, other, "{mnemonic} of {operands:x?} at {level:?}");
    }
    first
}

fn scalar_at(mnemonic: &str, operands: &[u64], part: ResultPart, level: CpuLevel) -> u64 {
    let form = form_of(mnemonic, part, level).unwrap_or_else(|| panic!("no form of {mnemonic}"));
    assert_eq!(form.srcs.len(), operands.len(), "operands of {mnemonic}");
    let mut bench = bench(&[0], 0);
    for (at, (&operand, class)) in operands.iter().zip(form.srcs).enumerate() {
        match class {
            Class::Pred => bench.preds[2 + at] = if operand == 0 { 0 } else { u32::MAX },
            Class::Bits32 => bench.regs[2 * at].0 = [operand as u32; 32],
            Class::Bits64 => {
                let words: [u32; 2] = [operand as u32, (operand >> 32) as u32];
                for lane in 0..64 {
                    bench.regs[2 * at + lane / 32].0[lane % 32] = words[lane % 2];
                }
            }
        }
    }
    let (lines, pred) = bench.run(form, u32::MAX, None);
    match form.dst {
        Class::Pred => (pred & 1) as u64,
        Class::Bits32 => lines[5] as u64,
        Class::Bits64 => lines[10] as u64 | (lines[11] as u64) << 32,
    }
}
