//! Multiplies with a plan's kernel on the emulated device.

#[cfg(test)]
mod tests;

use std::process::Command;

use cudarc::nvrtc::Ptx;
use harness::device::{self, DeviceChoice};
use harness::{Gpu, Shape, StepError};
use v11::gemm::{Choice, Sgemm};
use v11::plans::{Plan, Sharing, Source};

use super::{answer, find, read};
use crate::tune::{self, Operands, could_not};

/// Thread-instructions after which a product of a million multiply-adds that verifies a plan counts as endless.
const BUDGET: u64 = 200_000_000;

/// Returns a product for which a plan's tiles reach past the edges, and are shared.
fn awkward(plan: &Plan) -> Shape {
    let [bm, bn, bk] = plan.tile.map(|size| size as usize);
    let more = if plan.source == Source::Words { 3 } else { 4 };
    Shape { m: bm + 5, n: bn + more, k: 2 * bk + more }
}

/// Multiplies with each plan in a process of its own, because an error ends the context; prints the correct ones.
pub(super) fn verify(list: &str) -> Result<(), StepError> {
    let program = std::env::current_exe().map_err(could_not)?;
    let mut right = Vec::new();
    for (name, ptx) in read(list)? {
        let output =
            Command::new(&program).args(["search", "verify-one", &name, &ptx]).output().map_err(could_not)?;
        if output.status.success() {
            right.push(name);
        } else {
            eprintln!("{name} is refused: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    answer(&right)
}

pub(super) fn verify_one(name: &str, ptx: &str) -> Result<(), StepError> {
    device::choose_driver(DeviceChoice::Emulated)?;
    let gpu = Gpu::open()?;
    multiplies_right(&gpu, find(name)?, Ptx::from_file(ptx))
}

fn multiplies_right(gpu: &Gpu, plan: Plan, code: Ptx) -> Result<(), StepError> {
    let shape = awkward(&plan);
    let Shape { m, n, k } = shape;
    let mut sgemm = Sgemm::load(&gpu.stream)?;
    let number = sgemm.add(plan, &gpu.context.load_module(code)?)?;
    let mut operands = Operands::new(gpu, &[shape])?;
    if let Some(emulator) = gpu.emulator {
        // A wrong kernel may wait for ever.
        emulator.set_budget(Some(BUDGET));
    }
    for sharing in [Sharing::Tiles, Sharing::LastRound] {
        let shares = plan.shares(plan.tiles(m, n), plan.steps(k), sharing, sgemm.n_sms);
        if shares.is_none() {
            continue;
        }
        let choice = Choice { plan: number, sharing, packed: [false; 2], expected: 0.0 };
        tune::multiply(&mut operands, &sgemm, shape, &choice)?;
        if !operands.is_right(gpu, shape, &mut None)? {
            return Err(could_not(format!("{shape} is wrong")));
        }
    }
    Ok(())
}
