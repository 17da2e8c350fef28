//! Picture of the instructions of one scheduler in forty clocks: one or four accumulators, one warp or four.
//!
//! The clocks come from the timing model of an H200 (`timing`) and the machine code of `kernels/bench/waiting.cu`.

use anyhow::Context as _;
use simt::gpu::{self, Argument, Gpu};
use simt::{launch::LaunchOptions, module::Module};
use timing::{Chip, LoadedCode, predict_with_timeline};

use crate::lanes::{Bar, Lanes};
use crate::{machine::root, svg::Drawing};

/// Kernel, warps per scheduler, label.
const CASES: [(&str, u32, &str); 4] = [
    ("one_sum", 1, "one warp, one sum"),
    ("one_sum", 2, "two warps, one sum each"),
    ("one_sum", 4, "four warps, one sum each"),
    ("four_sums", 1, "one warp, four sums"),
];
const SCHEDULERS: u32 = 4;
const CLOCKS: u64 = 40;
/// Rounds of 64 multiply-adds.
const ROUNDS: i32 = 64;

/// Returns, for each warp of the first scheduler, the clocks in which it issued, from 0 to [`CLOCKS`].
fn issued(kernel: &str, warps: u32) -> anyhow::Result<Vec<Vec<u64>>> {
    let path = root().join("kernels/cubin/waiting.cubin");
    let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let mut code = sass::Module::read(&bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
    code.kernels.retain(|k| k.name == kernel);
    let gpu = Gpu::with_memory(1 << 32);
    let module = Module::load_machine_code(&gpu.memory, &code, None).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let loaded = module.kernel(kernel).context("no such kernel")?;
    let chip = Chip::h200();
    let block = 32 * SCHEDULERS * warps;
    let floats = vec![0.0_f32; (block * chip.sms) as usize];
    let arguments: [Argument; 3] = [ROUNDS.into(), gpu.upload(&floats).into(), gpu.upload(&floats).into()];
    let shape = gpu::Geometry { grid: [chip.sms, 1, 1], block: [block, 1, 1], dynamic_shared: 0 };
    let params = loaded.param_block(&arguments)?;
    let request = shape.request(params, LaunchOptions::default());
    let loaded = LoadedCode { code: &code.kernels[0], kernel: loaded, gpu: &gpu };
    let (_, timeline) =
        predict_with_timeline(chip, loaded, &request, CLOCKS).map_err(|why| anyhow::anyhow!("{kernel}: {why}"))?;
    let mut rows = vec![Vec::new(); warps as usize];
    for issue in &timeline.schedulers[0] {
        rows[(issue.warp / SCHEDULERS) as usize].push(issue.clock - timeline.clocks.start);
    }
    Ok(rows)
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let case = |(kernel, warps, name)| Ok((name, issued(kernel, warps)?));
    let cases = CASES.into_iter().map(case).collect::<anyhow::Result<Vec<_>>>()?;
    let used = |rows: &[Vec<u64>]| rows.iter().map(Vec::len).sum::<usize>();
    let totals: Vec<String> =
        cases.iter().map(|(name, rows)| format!("{name}: {} of {CLOCKS} clocks used", used(rows))).collect();
    let mut drawing = Drawing::titled(
        "Forty clocks of one scheduler",
        format!("A row for each warp, a box for each instruction that it issues. {}.", totals.join("; ")),
    );
    let lanes = Lanes { left: 0.0, last: CLOCKS as f64, row: 16.0 };
    let mut y = 28.0;
    for (name, rows) in &cases {
        y = lanes.head(&mut drawing, y, name, format!("{} of {CLOCKS} used", used(rows)));
        for (i, clocks) in rows.iter().enumerate() {
            let class = ["a", "b", "c", "d"][i % 4];
            let bars: Vec<Bar> = clocks.iter().map(|at| Bar::new(class, *at as f64 + 0.1, *at as f64 + 0.9)).collect();
            y = lanes.lane(&mut drawing, y, "", &bars);
        }
        y += 12.0;
    }
    drawing.note(y + 8.0, "A row for each warp; clocks of the model of an H200.");
    Ok(drawing.finish(y + 18.0))
}
