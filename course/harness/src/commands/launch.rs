//! `launch`: launches each kernel once on random inputs, for a profiler.
//!
//! Nothing is verified and nothing is timed. On the emulated device the launch is counted.

use std::process::ExitCode;

use catalog::process::Exit;
use catalog::{Shape, Work};
use counters::Counters;
use records::record::{Launched, Line};

use crate::commands::bench::plan;
use crate::device::session::{Launch, Session};
use crate::error::StepError;
use crate::inputs::{Data, Real, elements};
use crate::kernel::{Kernel, LaunchKind, match_launch, match_library};
use crate::measure::{cannot_run, gemm, load_once, machine, own_library, too_large, transpose};
use crate::step_run::StepRun;
use crate::{args, out, shapes};

const DEFAULT_SIZE: usize = 1024;

pub(crate) fn run(step_run: &mut StepRun<'_>, asked: &args::Launch) -> Result<ExitCode, StepError> {
    let sizes = step_run.sizes(&asked.sizes, DEFAULT_SIZE)?;
    if step_run.common.json {
        out::json(&Line::Run(Box::new(step_run.run.clone())))?;
    }
    for (case, kernels) in plan(step_run, Some(&sizes), None) {
        for kernel in kernels {
            let launched = launch(step_run, kernel, step_run.work(kernel), case.shape)?;
            match (step_run.common.json, &launched.not_run) {
                (true, _) => out::json(&Line::Launched(Box::new(launched)))?,
                (false, None) => out::write(&format!("{} on {}: launched\n", kernel.shown_name(), launched.shape))?,
                (false, Some(why)) => {
                    out::write(&format!("{} on {}: not run: {why}\n", kernel.shown_name(), launched.shape))?;
                }
            }
        }
    }
    Ok(Exit::Passed.into())
}

fn launch(step_run: &mut StepRun<'_>, kernel: &Kernel, work: Work, shape: Shape) -> Result<Launched, StepError> {
    let mut launched = Launched {
        run: step_run.run.id.clone(),
        step: step_run.step.id.into(),
        kernel: kernel.shown_name(),
        shape,
        ptx_sha256: step_run.ptx_sha256(kernel),
        grid: [0; 3],
        block: [0; 3],
        dynamic_shared: 0,
        counters: None,
        not_run: None,
    };
    let ptx = step_run.ptx.clone();
    let seed = step_run.common.seed;
    let gpu = step_run.gpu()?;
    shapes::check_fits(work, shape, gpu)?;
    if let LaunchKind::Library { open } = kernel.kind {
        match_library!(open, open => match open(&gpu.stream, &load_once(gpu)) {
            Ok(multiply) => once(gpu, own_library(&multiply, shape), shape, seed)?,
            Err(why) => launched.not_run = Some(why.to_string()),
        });
        launched.counters = counted(gpu)?;
        return Ok(launched);
    }
    let (Some(config), Some(code)) = (kernel.launch_config(shape, gpu.info.n_sms), kernel.code()) else {
        launched.not_run = Some("it is not a kernel of ours".into());
        return Ok(launched);
    };
    if let Some(why) = cannot_run(gpu, kernel, shape, ptx.as_deref()).or_else(|| too_large(gpu, config)) {
        launched.not_run = Some(why);
        return Ok(launched);
    }
    launched.grid = config.grid_dim.into();
    launched.block = config.block_dim.into();
    launched.dynamic_shared = config.shared_mem_bytes;
    if let Some(emulator) = gpu.emulator {
        emulator.set_checks(Some(emulator_client::CheckLevel::Count));
    }
    let function = machine::load(gpu, kernel, code, ptx.as_deref(), shape)?;
    if let LaunchKind::Device { launch, .. } = kernel.kind {
        match_launch!(
            launch,
            launch => once(gpu, gemm(gpu, function, launch, shape, config), shape, seed)?,
            launch => once(gpu, transpose(gpu, function.kernel, launch, shape, config), shape, seed)?,
        );
    }
    launched.counters = counted(gpu)?;
    Ok(launched)
}

/// Counters of the last launch on the emulated device.
fn counted(gpu: &crate::Gpu) -> Result<Option<Counters>, StepError> {
    Ok(gpu.report()?.map(|report| report.total))
}

/// Copies operands to the device, launches once and waits. The storage order of an operand does not matter here.
fn once<'g, T: Real, R: Real>(
    gpu: &'g crate::Gpu, launch: Launch<'g, T, R>, shape: Shape, seed: u64,
) -> Result<(), StepError> {
    let Shape { m, n, k } = shape;
    let draw = |operand, n_elements| elements::<T>(Data::Reals, seed, operand, k, n_elements);
    let (a, b) = match k {
        0 => (draw(0, m * n), None),
        _ => (draw(0, m * k), Some(draw(1, k * n))),
    };
    Session::new(gpu, launch, &a, b.as_deref(), m * n)?.run()?;
    Ok(())
}
