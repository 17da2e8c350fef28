//! `tune`: measures what products cost with each plan, and fits the constants by which `gemm_v11` chooses.
//!
//! The sizes are drawn by a seed. Each plan and way of sharing is verified on the first product that it can do; then,
//! on a GPU, all of them are timed on all products, as graphs of launches, for a named file. The emulated device has no
//! times.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::process::ExitCode;

use harness::library::ExactOperands;
use harness::{Gpu, Shape, StepError};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use v11::costs::{CostTerms, expected, fit, terms};
use v11::gemm::{Choice, Costs, Form, PlanCosts, Product, Sgemm};
use v11::plans::{PLANS, Sharing};

const SEED: u64 = 2026;
/// Number of products on a GPU, and on the emulated device.
const PRODUCTS: usize = 120;
const FEW_PRODUCTS: usize = 3;
/// Target duration of a batch of launches.
const BATCH_MS: f64 = 2.0;
const ROUNDS: usize = 5;
const MAX_WORK: f64 = 7e10;
const MAX_ELEMENTS: usize = 1 << 26;

/// Runs the command `tune`: prints the costs as JSON, and everything else to standard error.
pub(crate) fn main() -> ExitCode {
    let done = Gpu::find().and_then(|gpu| match gpu.emulator {
        Some(_) => verify(&gpu),
        None => measure(&gpu),
    });
    harness::exit_code(done.map(|()| ExitCode::SUCCESS))
}

pub(crate) fn could_not(error: impl std::fmt::Display) -> StepError {
    StepError::CouldNot(error.to_string())
}

/// Draws `n` shapes with sizes from `least` to `most`, small as often as large; rows of every second start on 16 bytes.
fn shapes(n: usize, [least, most]: [f64; 2]) -> Vec<Shape> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut found = Vec::new();
    while found.len() < n {
        let mut size = || (least * (most / least).powf(random.random::<f64>())) as usize;
        let [m, n, k] = [size(), size(), size()];
        let aligned = found.len().is_multiple_of(2);
        let shape = if aligned {
            Shape { m, n: n.next_multiple_of(4), k: k.next_multiple_of(4) }
        } else {
            Shape { m, n: n | 1, k }
        };
        if shape.volume() <= MAX_WORK && m.max(n) * (k + 4).max(n + 4) <= MAX_ELEMENTS {
            found.push(shape);
        }
    }
    found
}

pub(crate) fn forms(shape: Shape) -> [Form; 2] {
    [shape.k, shape.n].map(|cols| if cols.is_multiple_of(4) { Form::Aligned } else { Form::Anywhere })
}

/// Returns all choices for a shape whose operands are stored row after row without gaps.
pub(crate) fn choices(sgemm: &Sgemm, shape: Shape) -> Vec<Choice> {
    let mut costs = Costs::committed();
    for plan in PLANS {
        // A new plan has none yet.
        costs.plans.entry(plan.entry.to_owned()).or_default();
    }
    costs.choices(shape, forms(shape), sgemm.n_sms)
}

pub(crate) type Operands = ExactOperands<f32, f32>;

pub(crate) fn multiply(
    operands: &mut Operands,
    sgemm: &Sgemm,
    shape: Shape,
    choice: &Choice,
) -> Result<(), StepError> {
    let Operands { a, b, c } = operands;
    Ok(sgemm.multiply_by(&Product::new(shape), Some(*choice), a, b, c)?)
}

fn name(choice: &Choice) -> String {
    let sharing = match choice.sharing {
        Sharing::Tiles => "whole tiles",
        Sharing::LastRound => "last round shared",
        Sharing::LastTwoRounds => "last two rounds shared",
    };
    let packed = if choice.packed.contains(&true) { ", packed" } else { "" };
    format!("{} ({sharing}{packed})", PLANS[choice.plan].entry)
}

fn verify(gpu: &Gpu) -> Result<(), StepError> {
    let sgemm = Sgemm::load(&gpu.stream)?;
    let shapes = shapes(FEW_PRODUCTS, [60.0, 200.0]);
    let mut operands = Operands::new(gpu, &shapes)?;
    for shape in shapes {
        let mut right = None;
        let choices = choices(&sgemm, shape);
        for choice in &choices {
            multiply(&mut operands, &sgemm, shape, choice)?;
            if !operands.is_right(gpu, shape, &mut right)? {
                return Err(could_not(format!("{shape}: {} is wrong", name(choice))));
            }
        }
        eprintln!("{shape}: {} ways to multiply are right", choices.len());
    }
    eprintln!(
        "The emulated device has no time of these kernels: the costs stay those of {}.",
        Costs::committed().device
    );
    Ok(())
}

pub(crate) fn time(
    gpu: &Gpu,
    sgemm: &Sgemm,
    operands: &mut Operands,
    shape: Shape,
    choice: &Choice,
) -> Result<f64, StepError> {
    gpu.replayed_us(BATCH_MS, 1..=200, ROUNDS, || multiply(operands, sgemm, shape, choice))
}

/// Rounds to the digits that the file has.
fn rounded(constants: CostTerms) -> CostTerms {
    constants.map(|constant| (constant * 1e5).round() / 1e5)
}

fn measure(gpu: &Gpu) -> Result<(), StepError> {
    let sgemm = Sgemm::load(&gpu.stream)?;
    let mut shapes = shapes(PRODUCTS, [64.0, 6000.0]);
    // The usual sizes.
    shapes.extend([256, 512, 768, 1024, 1536, 2048, 3072, 4096].map(Shape::square));
    let mut operands = Operands::new(gpu, &shapes)?;
    let mut measured: BTreeMap<&str, [Vec<(CostTerms, f64)>; 2]> = BTreeMap::new();
    let mut samples = String::from("plan\tsharing\tshape\tpacked\tus\n");
    for (i, shape) in shapes.iter().copied().enumerate() {
        let mut right = None;
        for choice in choices(&sgemm, shape) {
            multiply(&mut operands, &sgemm, shape, &choice)?;
            if !operands.is_right(gpu, shape, &mut right)? {
                return Err(could_not(format!("{shape}: {} is wrong", name(&choice))));
            }
            let time = time(gpu, &sgemm, &mut operands, shape, &choice)?;
            let (plan, work) = (&PLANS[choice.plan], choice.work(shape));
            let terms = terms(plan, &work, sgemm.n_sms).expect("it was possible");
            let times = measured.entry(plan.entry).or_default();
            times[usize::from(work.stores_floats())].push((terms, time));
            let packed = choice.packed.iter().filter(|packed| **packed).count();
            samples += &format!("{}\t{:?}\t{shape}\t{packed}\t{time:.3}\n", plan.entry, choice.sharing);
        }
        eprint!("\r{} of {} products", i + 1, shapes.len());
    }
    eprintln!();
    if let Some(path) = std::env::args().nth(2) {
        std::fs::write(&path, samples).map_err(|error| could_not(format!("cannot write {path}: {error}")))?;
    }
    let plans: BTreeMap<String, PlanCosts> = measured
        .iter()
        .map(|(entry, [float4s, floats])| {
            let costs = PlanCosts { float4s: rounded(fit(float4s)), floats: rounded(fit(floats)) };
            ((*entry).to_owned(), costs)
        })
        .collect();
    for (entry, [float4s, floats]) in &measured {
        let costs = plans[*entry];
        let error = |constants: CostTerms, times: &[(CostTerms, f64)]| {
            let errors = times.iter().map(|(terms, time)| (expected(&constants, terms) / time - 1.0).abs());
            (
                100.0 * errors.clone().sum::<f64>() / times.len().max(1) as f64,
                100.0 * errors.fold(0.0, f64::max),
            )
        };
        let ((mean, worst), (mean_floats, worst_floats)) =
            (error(costs.float4s, float4s), error(costs.floats, floats));
        eprintln!(
            "{entry}: {} times within {mean:.1} % on average, {worst:.0} % at worst; with rows of C anywhere {} within \
             {mean_floats:.1} %, {worst_floats:.0} %",
            float4s.len(),
            floats.len()
        );
    }
    let missing: Vec<_> =
        PLANS.iter().filter(|plan| !plans.contains_key(plan.entry)).map(|plan| plan.entry).collect();
    if !missing.is_empty() {
        return Err(could_not(format!("nothing was measured of {}", missing.join(", "))));
    }
    let costs = Costs {
        device: gpu.info.name.clone(),
        driver: gpu.info.driver.clone(),
        date: catalog::time::utc(catalog::time::now()),
        products: shapes.len(),
        seed: SEED,
        plans,
    };
    let text = serde_json::to_string_pretty(&costs).map_err(could_not)?;
    harness::out::write(&format!("{text}\n"))
}
