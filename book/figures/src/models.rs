//! Checks the explorers' models of occupancy, fragments, swizzles and rings as [`crate::explorers`] checks rules.

use std::fmt::Debug;

use anyhow::Context as _;
use arithmetic::products::{AccumulatorType, FactorType};
use arithmetic::products::{Factors, Product, Unit};
use program::mma::layout::{MmaForm, Types};
use program::mma::warpgroup::{Descriptor, accumulator};
use program::tensor::Swizzle;
use simt::occupancy::{Footprint, Occupancy, occupancy};

use crate::explorers::{Case, rules_js};
use crate::rings::{PAIR, RING, Work};
use crate::v10_fragments::held;
use crate::{machine, register_banks, steps};

/// Scripts with models, below `book/src/explorers`.
const MODELS: &str =
    "occupancy swizzle fragment sum descriptor epilogue ring multicast register-banks waves buffers ping-pong roofline";

/// Reads the explorers' rules and models.
pub fn models_js() -> anyhow::Result<String> {
    let mut all = rules_js()?;
    for name in MODELS.split(' ') {
        all += &machine::read(&format!("book/src/explorers/{name}.js"))?;
    }
    Ok(all)
}

/// Returns a case whose expected value is formatted as JSON.
fn case(expression: String, expected: impl Debug) -> Case {
    Case { expression: format!("TileModels.{expression}"), expected: format!("{expected:?}").replace(' ', "") }
}

pub fn model_cases() -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for threads in [32, 64, 96, 128, 256, 288, 384, 512, 1024] {
        for registers in [16, 24, 32, 40, 63, 64, 80, 81, 128, 129, 168, 224, 255] {
            for kib in [0, 1, 8, 33, 48, 99, 113, 193, 227] {
                let Occupancy { blocks, limit } = occupancy(Footprint { threads, registers, shared: kib * 1024 });
                let answer = [blocks as usize, limit as usize];
                cases.push(case(format!("occupancy({threads},{registers},{})", kib * 1024), answer));
            }
        }
    }
    for swizzle in [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128] {
        for address in (0..4096).step_by(48) {
            cases.push(case(format!("swizzled({address},{})", swizzle.span()), swizzle.apply(address)));
        }
    }
    for (k, packed, factor) in
        [(16, 2, FactorType::Bf16), (8, 2, FactorType::Bf16), (8, 1, FactorType::Tf32), (4, 1, FactorType::Tf32)]
    {
        let form = MmaForm::new(16, k, Types::Small(factor, factor, AccumulatorType::F32), None).context("a shape")?;
        for lane in 0..32 {
            let [row, column]: [usize; 2] = accumulator(lane, lane / 2).into();
            cases.push(case(format!("accumulator({lane},{})", lane / 2), [row, column]));
            let elements =
                held(form, packed, lane).map(|held| held.into_iter().map(<[usize; 2]>::from).collect::<Vec<_>>());
            cases.push(case(format!("fragment({k},{packed},{lane}).map((registers) => registers.flat())"), elements));
        }
    }
    let unit = Product::new(FactorType::Bf16, AccumulatorType::F32, Unit::Warp);
    for (power, factor) in [(0, 0.75_f32), (20, 1.0625), (23, 0.75), (24, 1.5), (25, 0.75), (27, 1.5)] {
        let (mut decoded, mut sums) = ([Factors::ZERO], [2_f32.powi(power).to_bits(); 8]);
        unit.decode(&[[factor.to_bits() >> 16; 8]], &mut decoded);
        unit.multiply(&[decoded[0]; 2], &[decoded[0]; 16], 16, &mut sums);
        let result = f64::from(f32::from_bits(sums[0])) * 256.0;
        cases.push(case(format!("sum({power},{factor},{factor},16).result*256"), result as i64));
    }
    for (start, leading, stride) in [(0_u64, 0_u64, 1024_u64), (96, 0, 1024), (18432, 8192, 1024), (20480, 4096, 512)] {
        let bits = (start / 16) | ((leading / 16) << 16) | ((stride / 16) << 32) | (1 << 62);
        let (expression, descriptor) = (format!("describe({start},{leading},{stride},true)"), Descriptor::decode(bits));
        cases.push(case(expression.clone(), [bits & 0xffff_ffff, bits >> 32]));
        for (row, piece) in [(0, 0), (5, 1), (13, 1), (63, 0)] {
            cases
                .push(case(format!("pieceOfA(TileModels.{expression},{row},{piece})"), descriptor.k_major(row, piece)));
        }
        for (k, piece) in [(0, 0), (7, 3), (8, 9), (15, 31)] {
            cases.push(case(format!("pieceOfB(TileModels.{expression},{k},{piece})"), descriptor.mn_major(k, piece)));
        }
    }
    for (listing, (kernel, _, from)) in ["crowded", "spread"].into_iter().zip(register_banks::LARGE) {
        let listing = machine::read(&format!("book/src/generated/machine-{listing}.txt"))?.replace('`', "");
        // What the first one finds in the cache is not in the listing.
        let banks: Vec<_> = register_banks::run(kernel, from)?[1..].iter().map(|multiply| multiply.banks).collect();
        cases.push(case(format!("operands({listing:?}).slice(1, 8).map((one) => one.banks)"), banks));
    }
    rings(&mut cases)?;
    for subject in steps::subjects()?.iter().filter(|subject| subject.page == "v10") {
        let (trace, _) = steps::counted(subject)?;
        let every = format!("fragmentsOf({trace}).map(Number).join(\"\")");
        cases.push(Case { expression: every, expected: format!("{:?}", "1".repeat(8 * 32)) });
    }
    // The numbers of chapters: shares of 288 tiles of 192 steps, and turns after eleven steps in a ring of two stages.
    let shares = "schedule(288,192,132,132).map((pieces) => pieces.reduce((sum, piece) => sum + piece[2], 0))";
    cases.push(case(format!("{shares}.reduce((sum, steps) => sum + steps)"), 288 * 192));
    cases.push(case(format!("{shares}.every((steps) => steps === 418 || steps === 419)"), true));
    let ends = "schedule(288,192,132,132).flat().filter(([, first, count]) => first + count === 192)";
    cases.push(case(format!("{ends}.map(([tile]) => tile).sort((a, b) => a - b)"), (0..288).collect::<Vec<_>>()));
    cases.push(case("early(11,2).due".to_owned(), 5));
    cases.push(case("intensity({bm:128,bn:128,k:512,bytes:4,store:true}).toFixed(1) * 10".to_owned(), 284));
    Ok(cases)
}

/// Adds cases of rings: what a producer and a warp of each warpgroup do, in order.
fn rings(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    const STEPS: usize = 8;
    const PRODUCER: u32 = 8;
    let ring = Work::of(RING, 1, STEPS)?;
    let log = [PRODUCER, 0, 4].map(|warp| ring.words(warp, &["wait", "copy", "multiply", "release"]));
    let state = format!("{{stages:4,steps:{STEPS},copy:6,multiply:4,late:0,fault:\"\"}}");
    cases.push(case(format!("ring({state}).log"), &log));
    let state = format!("{{stages:4,steps:{STEPS},copy:3,multiply:5,late:7,fault:\"\"}}");
    cases.push(case(format!("ring({state}).log"), &log));
    // Boxes of a step, by how many blocks receive them.
    let n_boxes = |work: &Work, word| work.words(PRODUCER, &[word]).len() / STEPS;
    let own = "filter((copy) => copy.from === 0).map(({ to, boxes }) => [to.length, boxes])";
    let pair = Work::of(PAIR, 1, STEPS)?;
    cases.push(case(format!("copies(true).{own}"), [[1, n_boxes(&pair, "box")], [2, n_boxes(&pair, "multicast")]]));
    let alone = "filter((copy) => copy.from === 0).reduce((sum, copy) => sum + copy.boxes, 0)";
    cases.push(case(format!("copies(false).{alone}"), n_boxes(&ring, "box")));
    Ok(())
}
