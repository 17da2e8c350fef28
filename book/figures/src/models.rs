//! Checks the explorers' models of occupancy, fragments, swizzles and rings against the emulator, and against what the
//! real kernels do on it, in the way of [`crate::explorers`].

use std::fmt::Debug;

use anyhow::{Context as _, bail};
use simt::gpu::{Argument, Geometry, Gpu};
use simt::launch::LaunchOptions;
use simt::occupancy::{Footprint, Occupancy, occupancy};
use simt::program::mma::layout::{MmaForm, Types};
use simt::program::mma::products::{AccumulatorType, FactorType};
use simt::program::mma::warpgroup::{Descriptor, accumulator};
use simt::program::tensor::{Element, Fill, Swizzle, TensorMap};
use simt::trace::{Follow, Step};

use crate::explorers::{Case, rules_js};
use crate::machine;
use crate::register_banks;
use crate::v10_fragments::held;

/// Scripts with models, below `book/src/explorers`.
const MODELS: &str =
    "occupancy swizzle fragment descriptor epilogue ring multicast register-banks waves buffers ping-pong roofline";

/// Reads the explorers' rules and models.
pub fn models_js() -> anyhow::Result<String> {
    let mut all = rules_js()?;
    for name in MODELS.split(' ') {
        all += &machine::read(&format!("book/src/explorers/{name}.js"))?;
    }
    Ok(all)
}

/// Returns a case whose answer is written as JSON has it.
fn case(ask: String, answer: impl Debug) -> Case {
    Case { ask: format!("TileModels.{ask}"), answer: format!("{answer:?}").replace(' ', "") }
}

/// Returns all cases of the models.
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
    for (start, leading, stride) in [(0_u64, 0_u64, 1024_u64), (96, 0, 1024), (18432, 8192, 1024), (20480, 4096, 512)] {
        let bits = (start / 16) | ((leading / 16) << 16) | ((stride / 16) << 32) | (1 << 62);
        let (ask, descriptor) = (format!("describe({start},{leading},{stride},true)"), Descriptor::decode(bits));
        cases.push(case(ask.clone(), [bits & 0xffff_ffff, bits >> 32]));
        for (row, piece) in [(0, 0), (5, 1), (13, 1), (63, 0)] {
            cases.push(case(format!("pieceOfA(TileModels.{ask},{row},{piece})"), descriptor.k_major(row, piece)));
        }
        for (k, piece) in [(0, 0), (7, 3), (8, 9), (15, 31)] {
            cases.push(case(format!("pieceOfB(TileModels.{ask},{k},{piece})"), descriptor.mn_major(k, piece)));
        }
    }
    for (listing, kernel, from) in
        [("crowded", "sgemm_v11_large_tile", 0xf850), ("spread", "sgemm_v11_free_banks", 0xd550)]
    {
        let listing = machine::read(&format!("book/src/generated/machine-{listing}.txt"))?.replace('`', "");
        // What the first one finds in the cache is not in the listing.
        let banks: Vec<_> = register_banks::run(kernel, from)?[1..].iter().map(|multiply| multiply.banks).collect();
        cases.push(case(format!("operands({listing:?}).slice(1, 8).map((one) => one.banks)"), banks));
    }
    rings(&mut cases)?;
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
    let ring = Work::of("v12_ring", "gemm_v12_ring_f32", STEPS, 1)?;
    let log = [PRODUCER, 0, 4].map(|warp| ring.words(warp, &["wait", "copy", "multiply", "release"]));
    let state = format!("{{stages:4,steps:{STEPS},copy:6,multiply:4,late:0,fault:\"\"}}");
    cases.push(case(format!("ring({state}).log"), &log));
    let state = format!("{{stages:4,steps:{STEPS},copy:3,multiply:5,late:7,fault:\"\"}}");
    cases.push(case(format!("ring({state}).log"), &log));
    // Boxes of a step, by how many blocks receive them.
    let n_boxes = |work: &Work, word| work.words(PRODUCER, &[word]).len() / STEPS;
    let own = "filter((copy) => copy.from === 0).map(({ to, boxes }) => [to.length, boxes])";
    let pair = Work::of("v12_multicast", "gemm_v12_multicast_f32", STEPS, 2)?;
    cases.push(case(format!("copies(true).{own}"), [[1, n_boxes(&pair, "box")], [2, n_boxes(&pair, "multicast")]]));
    let alone = "filter((copy) => copy.from === 0).reduce((sum, copy) => sum + copy.boxes, 0)";
    cases.push(case(format!("copies(false).{alone}"), n_boxes(&ring, "box")));
    Ok(())
}

/// Instructions of the warps of the first block, in the order of execution: the warp, and a word for the instruction.
struct Work(Vec<(u32, &'static str)>);

fn word(text: &str) -> Option<&'static str> {
    let words = [
        ("mbarrier.try_wait", "wait"),
        ("mbarrier.arrive.expect_tx", "copy"),
        ("mbarrier.arrive", "release"),
        ("wgmma.commit_group", "multiply"),
        (".multicast::cluster", "multicast"),
        ("cp.async.bulk.tensor", "box"),
    ];
    words.into_iter().find(|(part, _)| text.contains(part)).map(|(_, word)| word)
}

impl Work {
    /// Runs a kernel with tiles of 128 x 256 and a ring of four stages, as `blocks` blocks below each other, which
    /// share the boxes of B.
    fn of(file: &str, kernel: &str, steps: usize, blocks: u64) -> anyhow::Result<Self> {
        const SHARED: u32 = 4 * (48 * 1024 + 2 * 8);
        let [m, n, k] = [128 * blocks, 256, 64 * steps as u64];
        let gpu = Gpu::with_memory(1 << 32);
        let module = gpu.load(&machine::read(&format!("kernels/ptx/{file}.ptx"))?)?;
        let loaded = module.kernel(kernel).with_context(|| format!("{file} has no kernel {kernel}"))?;
        let mut arguments: Vec<Argument> = [m, n, k].map(|size| (size as i32).into()).into();
        arguments.push(1.0f32.into());
        for (rows, columns, of_box) in [(m, k, 128), (k, n, 64 / blocks as u32)] {
            let address = gpu.upload(&vec![0u8; (2 * rows * columns) as usize]);
            let (dims, strides, one) = ([columns, rows], [2 * columns], [1, 1]);
            let map = TensorMap::new(
                address,
                Element::Bf16,
                &dims,
                &strides,
                &[64, of_box],
                &one,
                Swizzle::B128,
                Fill::Zeros,
            );
            let map = map.map_err(|rule| anyhow::anyhow!("{rule}"))?;
            arguments.push(Argument(map.encode().to_vec()));
        }
        arguments.push(gpu.alloc::<f32>((m * n) as usize).into());
        let block = loaded.kernel().max_threads.context("the kernel has no launch bounds")?;
        let geometry = Geometry { grid: [blocks as u32, 1, 1], block, shared: SHARED };
        let config = geometry.config(loaded.param_block(&arguments)?, LaunchOptions::default());
        let (report, steps) = gpu.trace(loaded, &config, Follow { block: [0; 3], warp: None, max_steps: 1 << 20 })?;
        if let Some(code) = report.mistakes.codes().first() {
            bail!("{kernel} on the emulated GPU: {}", code.as_str());
        }
        let named = |(warp, step): (u32, Step)| Some((warp, word(&report.instructions[step.instr as usize].text)?));
        Ok(Self(steps.into_iter().filter_map(named).collect()))
    }

    /// Returns those words of a warp; a wait that does not pass is tried again, and counts once.
    fn words(&self, warp: u32, of: &[&str]) -> Vec<&'static str> {
        let own = self.0.iter().filter(|(other, word)| *other == warp && of.contains(word));
        let mut words: Vec<_> = own.map(|(_, word)| *word).collect();
        words.dedup_by(|next, before| *next == "wait" && *before == "wait");
        words
    }
}
