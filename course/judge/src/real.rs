//! Judging on this machine's GPU, for tasks whose results count only there.
//!
//! A kernel must first pass on the emulated GPU, because nothing stops an endless one on a real GPU.

use harness::foreign::run;
use harness::{Gpu, StepError};
use harness::{inputs::Accumulator, session::load};
use tasks::verdict::{Part, Status, Verdict};

use crate::trial::{Mismatch, trials};
use crate::{JudgeError, Request, shapes};

/// Requirement of the part, as a clause.
const WHAT: &str = "right on a real GPU, where everything else ran on the emulated one";

/// Adds the part `gpu` to a verdict. Without a GPU the verdict is not a pass.
pub fn add(request: &Request<'_>, verdict: &mut Verdict, gpu: Result<Gpu, StepError>) {
    let mut part = Part::passed("gpu", WHAT);
    if verdict.status != Status::Passed {
        part.status = Status::NotRun;
        part.why = Some("the kernel has to pass on the emulated GPU first".into());
        verdict.parts.push(part);
        return;
    }
    match gpu {
        Err(why) => {
            part.status = Status::NotRun;
            part.why = Some(format!("needs a GPU: {why}; everything else ran on the emulated one"));
        }
        Ok(gpu) => {
            let wrong = if request.task.work.is_double() {
                run_shapes::<f64>(request, &gpu)
            } else {
                run_shapes::<f32>(request, &gpu)
            };
            part.what = format!("{WHAT}: {}", gpu.info.name);
            if let Err(why) = wrong {
                part.status = Status::Failed;
                part.why = Some(why.to_string());
                verdict.code = Some("gpu".into());
            }
        }
    }
    verdict.status = part.status;
    verdict.why.clone_from(&part.why);
    verdict.parts.push(part);
}

/// Runs all shapes, up to the first failure.
fn run_shapes<T: Accumulator>(request: &Request<'_>, gpu: &Gpu) -> Result<(), JudgeError> {
    let task = request.task;
    let kernel = load(gpu, request.ptx, &task.entry)?;
    for shape in shapes::shapes_for(task, request.seed, request.shapes) {
        for trial in trials::<T>(task.work, shape, request.seed, request.threads) {
            let inputs: Vec<Vec<u8>> = trial.buffers().take(trial.inputs.len()).map(|(_, bytes)| bytes).collect();
            let [x, y, z] = task.grid(shape);
            let config = harness::foreign::Config {
                grid_dim: (x, y, z),
                block_dim: task.block.into(),
                shared_mem_bytes: task.dynamic_shared,
            };
            let names = task.work.parameters().iter();
            let arguments: Vec<_> = names.filter_map(|(_, name)| trial.argument(name)).collect();
            let got = run(gpu, &kernel, config, &inputs, &trial.start, &arguments)
                .map_err(|why| format!("on {shape}: {why}"))?;
            if let Some(Mismatch { wrong, .. }) = trial.mismatch(task, &got) {
                return Err(format!("on {shape}: {}", wrong.in_a_sentence()).into());
            }
        }
    }
    Ok(())
}
