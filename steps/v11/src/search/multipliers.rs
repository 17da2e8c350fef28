//! Predicts the times of plans' consumer warps on the emulated device.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use harness::device::{self, DeviceChoice};
use harness::{Gpu, StepError};
use serde_json::Value;
use v11::forecast::{self, Forecast};
use v11::plans::Plan;
use v11::space;

use super::{SMS, bytes, plans, read};
use crate::tune::could_not;

struct Multipliers<'a> {
    gpu: &'a Gpu,
    plan: Plan,
    kernel: CudaFunction,
}

impl<'a> Multipliers<'a> {
    fn load(gpu: &'a Gpu, plan: Plan, cubin: &str) -> Result<Self, StepError> {
        let module = gpu.context.load_module(Ptx::from_binary(bytes(cubin)?))?;
        let kernel = module.load_function("multipliers_v11_candidate")?;
        // The ring of this kernel has two pairs of tiles.
        let plan = Plan { stages: 2, ..plan };
        let shared = plan.shared().cast_signed();
        kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)?;
        Ok(Self { gpu, plan, kernel })
    }

    /// Returns the predicted microseconds of `blocks` blocks per multiprocessor, `rounds` tiles of `steps` steps each.
    fn us(&self, blocks: usize, rounds: usize, steps: usize) -> Result<f64, StepError> {
        let Self { gpu, plan, kernel } = self;
        let emulator =
            gpu.emulator.ok_or_else(|| could_not("predictions are made on the emulated device"))?;
        let [bm, bn, _] = plan.tile.map(|size| size as usize);
        let blocks = blocks * SMS;
        let tiles = blocks * rounds;
        let c = gpu.stream.alloc_zeros::<f32>(bm * bn * tiles)?;
        let (m, n, alpha) = (harness::to_i32(bm), harness::to_i32(bn * tiles), 1.0f32);
        let (steps, tiles) = (harness::to_i32(steps), harness::to_i32(tiles));
        let config = harness::grid_1d(harness::blocks(blocks, 1), plan.consumers());
        let config = LaunchConfig { shared_mem_bytes: plan.shared(), ..config };
        let mut launch = gpu.stream.launch_builder(kernel);
        launch.arg(&m).arg(&n).arg(&steps).arg(&tiles).arg(&alpha).arg(&c);
        emulator.predict_next();
        // SAFETY: the arguments are what the kernel takes, and C is one row of all tiles.
        unsafe { launch.launch(config) }?;
        gpu.stream.synchronize()?;
        let report = emulator.report().unwrap_or_default();
        let report: Value = serde_json::from_str(&report).map_err(could_not)?;
        let why = || could_not(report["no_prediction"].as_str().unwrap_or("no prediction"));
        report["prediction"]["us"].as_f64().ok_or_else(why)
    }

    fn forecast(&self) -> Result<Forecast, StepError> {
        /// Long enough for the blocks to be out of step.
        const STEPS: [usize; 2] = [6, 14];
        let all = self.plan.blocks as usize;
        let slope = |blocks| -> Result<(f64, f64), StepError> {
            let [few, more] = [self.us(blocks, 1, STEPS[0])?, self.us(blocks, 1, STEPS[1])?];
            Ok((few, (more - few) / (STEPS[1] - STEPS[0]) as f64))
        };
        let (few, step) = slope(all)?;
        let alone = if all > 1 { slope(1)?.1 } else { step };
        let two = if all > 2 { slope(2)?.1 } else { step };
        let tile = self.us(all, 2, STEPS[0])? - few - STEPS[0] as f64 * step;
        Ok(Forecast { step: step / all as f64, alone, two, tile: tile.max(0.0) })
    }
}

/// Prints forecasts by name, of as many plans as `seconds` allow, in a process for each core.
pub(super) fn predict(list: &str, seconds: &str) -> Result<(), StepError> {
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    let program = std::env::current_exe().map_err(could_not)?;
    let start = |i: usize| {
        let (i, n) = (i.to_string(), n.to_string());
        let mut command = Command::new(&program);
        command.args(["search", "predict-part", list, seconds, &i, &n]).stdout(Stdio::piped());
        command.spawn().map_err(could_not)
    };
    let parts = (0..n).map(start).collect::<Result<Vec<_>, StepError>>()?;
    let mut found = BTreeMap::new();
    for part in parts {
        let output = part.wait_with_output().map_err(could_not)?;
        if !output.status.success() {
            return Err(could_not("a process that predicts failed; its own words are above"));
        }
        found.extend(forecast::read(&String::from_utf8_lossy(&output.stdout)));
    }
    harness::out::write(&forecast::write(&found))
}

/// Predicts number i of each n plans.
pub(super) fn predict_part(list: &str, seconds: &str, i: &str, n: &str) -> Result<(), StepError> {
    let [i, n]: [usize; 2] = [i.parse().map_err(could_not)?, n.parse().map_err(could_not)?];
    let limit = Duration::from_secs(seconds.parse().map_err(could_not)?);
    let started = Instant::now();
    device::choose_driver(DeviceChoice::Emulated)?;
    let gpu = Gpu::open()?;
    let plans: BTreeMap<String, Plan> = plans().into_iter().map(|plan| (space::name(&plan), plan)).collect();
    // Several plans share their consumer warps.
    let mut cubins: Vec<(String, Vec<String>)> = Vec::new();
    for (name, cubin) in read(list)? {
        match cubins.iter_mut().find(|(other, _)| *other == cubin) {
            Some((_, names)) => names.push(name),
            None => cubins.push((cubin, vec![name])),
        }
    }
    let mut found = BTreeMap::new();
    for (cubin, names) in cubins.into_iter().skip(i).step_by(n) {
        if started.elapsed() > limit {
            break;
        }
        let plan = names.first().and_then(|name| plans.get(name));
        let plan = plan.ok_or_else(|| could_not(format!("there is no plan {names:?}")))?;
        match Multipliers::load(&gpu, *plan, &cubin)?.forecast() {
            Ok(forecast) => found.extend(names.into_iter().map(|name| (name, forecast))),
            Err(why) => eprintln!("{}: {why}", space::name(plan)),
        }
    }
    harness::out::write(&forecast::write(&found))
}
