//! `tune`: measures what products cost with each plan, and fits the constants by which the library chooses.
//!
//! The sizes are drawn by a seed. Every plan is verified on every product; on a GPU it is timed, as a graph of
//! launches. The emulated device has no times: there the constants are fitted again to those on record, as after a
//! change of terms.

use std::collections::BTreeMap;
use std::process::ExitCode;

use catalog::statistics::fit;
use cudarc::driver::CudaSlice;
use harness::inputs::{Data, Real};
use harness::library::ExactOperands;
use harness::{Bf16, Gpu, Shape, StepError};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use v12::gemm::{Choice, Costs, Gemm, Output, Product, kernel_name};
use v12::plans::{LINE, PLANS, TERMS, Work, expected, terms};

const SEED: u64 = 2027;
/// Number of products on a GPU, and on the emulated device.
const PRODUCTS: usize = 240;
const FEW_PRODUCTS: usize = 3;
/// From this product on, rows start on lines of L2, as in most programs.
const ON_LINES: usize = 200;
/// Target duration of a batch of launches.
const BATCH_MS: f64 = 1.0;
const ROUNDS: usize = 5;
const MAX_WORK: f64 = 3e11;
/// Sizes of square products whose fastest plans are kept by name.
const USUAL: [usize; 12] = [256, 512, 768, 1000, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192];
const MAX_ELEMENTS: usize = 1 << 26;

/// Runs the command `tune`: prints the costs as JSON, and everything else to standard error.
pub(crate) fn main() -> ExitCode {
    let done = Gpu::find().and_then(|gpu| match gpu.emulator {
        Some(_) => verify(&gpu),
        None => measure(&gpu),
    });
    harness::exit_code(done.map(|()| ExitCode::SUCCESS))
}

fn could_not(error: impl std::fmt::Display) -> StepError {
    StepError::CouldNot(error.to_string())
}

/// Draws `n` shapes with sizes from `least` to `most`, small as often as large. Rows start on 16 bytes, but for every
/// fourth shape, or on lines; every fifth has few rows, and longer ones, and of those on lines every second.
fn shapes(n: usize, [least, most]: [f64; 2]) -> Vec<Shape> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut found = Vec::new();
    while found.len() < n {
        let mut size = |most: f64| (least * (most / least).powf(random.random::<f64>())) as usize;
        let on_lines = found.len() >= ON_LINES;
        let few_rows = found.len() % if on_lines { 2 } else { 5 } == 1;
        let sizes = if few_rows {
            [size(4.0 * least), size(2.0 * most), size(2.0 * most)]
        } else {
            [(); 3].map(|()| size(most))
        };
        let [m, n, k] = sizes;
        let shape = if found.len() % 4 == 3 && !on_lines {
            Shape { m, n: n | 1, k: k | 1 }
        } else {
            let [n, k] = [n, k].map(|size| size.next_multiple_of(if on_lines { LINE } else { 8 }));
            Shape { m, n, k }
        };
        let most_elements = (m * (k + 8)).max((n + 8) * (k + 8)).max(m * (n + 8));
        if shape.volume() <= MAX_WORK && most_elements <= MAX_ELEMENTS {
            found.push(shape);
        }
    }
    found
}

struct Operands<R> {
    exact: ExactOperands<Bf16, R>,
    /// Numbers with all their bits, which take as much power as those of programs: for times.
    reals: [CudaSlice<Bf16>; 2],
}

impl<R: Output + Real> Operands<R> {
    fn new(gpu: &Gpu, shapes: &[Shape]) -> Result<Self, StepError> {
        let exact = ExactOperands::new(gpu, shapes)?;
        let reals = |operand, n| {
            gpu.stream.clone_htod(&harness::inputs::elements::<Bf16>(Data::Reals, SEED, operand, 1, n))
        };
        Ok(Self { reals: [reals(0, exact.a.len())?, reals(1, exact.b.len())?], exact })
    }

    fn multiply(&mut self, gemm: &Gemm, shape: Shape, choice: Choice) -> Result<(), StepError> {
        let ExactOperands { a, b, c } = &mut self.exact;
        Ok(gemm.multiply_by(&Product::new(shape), Some(choice), a, b, c)?)
    }

    fn multiply_reals(&mut self, gemm: &Gemm, shape: Shape, choice: Choice) -> Result<(), StepError> {
        let [a, b] = &self.reals;
        Ok(gemm.multiply_by(&Product::new(shape), Some(choice), a, b, &mut self.exact.c)?)
    }
}

/// Calls `then` for every choice of every shape, after its product was verified.
fn each<R: Output + Real>(
    gpu: &Gpu,
    gemm: &Gemm,
    shapes: &[Shape],
    mut then: impl FnMut(&mut Operands<R>, Shape, Choice) -> Result<(), StepError>,
) -> Result<(), StepError> {
    let mut operands = Operands::<R>::new(gpu, shapes)?;
    for (i, shape) in shapes.iter().copied().enumerate() {
        let mut right = None;
        for choice in gemm.all_choices::<R>(shape) {
            operands.multiply(gemm, shape, choice)?;
            if !operands.exact.is_right(gpu, shape, &mut right)? {
                return Err(could_not(format!(
                    "{shape}: {} is wrong",
                    kernel_name(&PLANS[choice.plan], R::SUFFIX)
                )));
            }
            then(&mut operands, shape, choice)?;
        }
        eprint!("\r{} of {} products to {}", i + 1, shapes.len(), R::SUFFIX);
    }
    eprintln!();
    Ok(())
}

/// One time of one kernel.
struct Sample {
    kernel: String,
    shape: Shape,
    us: f64,
}

impl Sample {
    /// Reads a line that [`written`] wrote; `None` for its head.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (kernel, shape, us) = (fields.next()?, fields.next()?, fields.next()?);
        let mut sizes = shape.split('x').map(|size| size.parse().ok());
        let [m, n, k] = [sizes.next()??, sizes.next()??, sizes.next()??];
        Some(Self { kernel: kernel.to_owned(), shape: Shape { m, n, k }, us: us.parse().ok()? })
    }
}

fn written(samples: &[Sample]) -> String {
    let line = |Sample { kernel, shape, us }: &Sample| format!("{kernel}\t{shape}\t{us:.3}\n");
    "kernel\tshape\tus\n".to_owned() + &samples.iter().map(line).collect::<String>()
}

/// Fits the constants of each kernel to its samples.
fn fitted(samples: &[Sample], costs: &Costs) -> BTreeMap<String, [f64; TERMS]> {
    let mut kernels = BTreeMap::new();
    for plan in PLANS {
        for (suffix, result_bytes) in [(f32::SUFFIX, size_of::<f32>()), (Bf16::SUFFIX, size_of::<Bf16>())] {
            let name = kernel_name(&plan, suffix);
            let own = samples.iter().filter(|sample| sample.kernel == name);
            let times: Vec<_> = own
                .map(|&Sample { shape, us, .. }| {
                    (terms(&plan, &Work::without_gaps(shape, result_bytes), costs.at_once(&plan)), us)
                })
                .collect();
            let constants = fit(&times).map(|constant| (constant * 1e5).round() / 1e5);
            let errors =
                times.iter().map(|(terms, us)| 100.0 * (expected(&constants, terms) / us - 1.0).abs());
            let mean = errors.clone().sum::<f64>() / times.len().max(1) as f64;
            let worst = errors.fold(0.0, f64::max);
            eprintln!("{name}: {} times within {mean:.1} % on average, {worst:.0} % at worst", times.len());
            kernels.insert(name, constants);
        }
    }
    kernels
}

/// Returns the fastest kernels of the usual sizes that have samples, for C in FP32 and in bf16.
fn fastest(samples: &[Sample]) -> BTreeMap<String, [String; 2]> {
    let of = |size: usize| {
        let shape = Shape::square(size);
        let by = |suffix: &str| {
            let own =
                samples.iter().filter(|sample| sample.shape == shape && sample.kernel.ends_with(suffix));
            own.min_by(|a, b| a.us.total_cmp(&b.us)).map(|sample| sample.kernel.clone())
        };
        Some((shape.to_string(), [by(f32::SUFFIX)?, by(Bf16::SUFFIX)?]))
    };
    USUAL.into_iter().filter_map(of).collect()
}

fn fit_to(samples: &[Sample], costs: Costs) -> Costs {
    Costs { kernels: fitted(samples, &costs), fastest: fastest(samples), ..costs }
}

fn samples_on_record() -> Vec<Sample> {
    include_str!("../data/samples.tsv").lines().filter_map(Sample::read).collect()
}

fn verify(gpu: &Gpu) -> Result<(), StepError> {
    let gemm = Gemm::load(&gpu.stream)?;
    let shapes = shapes(FEW_PRODUCTS, [60.0, 200.0]);
    each::<f32>(gpu, &gemm, &shapes, |_, _, _| Ok(()))?;
    each::<Bf16>(gpu, &gemm, &shapes, |_, _, _| Ok(()))?;
    let known = Costs::committed();
    eprintln!(
        "The emulated device has no time of these kernels: the costs are fitted again to times of {}.",
        known.device
    );
    let samples = samples_on_record();
    print(&fit_to(&samples, known))
}

fn print(costs: &Costs) -> Result<(), StepError> {
    let text = serde_json::to_string_pretty(costs).map_err(could_not)?;
    harness::out::write(&format!("{text}\n"))
}

fn times<R: Output + Real>(
    gpu: &Gpu,
    gemm: &Gemm,
    shapes: &[Shape],
    samples: &mut Vec<Sample>,
) -> Result<(), StepError> {
    each::<R>(gpu, gemm, shapes, |operands, shape, choice| {
        let us =
            gpu.replayed_us(BATCH_MS, 2..=200, ROUNDS, || operands.multiply_reals(gemm, shape, choice))?;
        // As many digits as the file has: from it the same constants are fitted.
        let us = (us * 1e3).round() / 1e3;
        samples.push(Sample { kernel: kernel_name(&PLANS[choice.plan], R::SUFFIX), shape, us });
        Ok(())
    })
}

fn measure(gpu: &Gpu) -> Result<(), StepError> {
    let gemm = Gemm::load(&gpu.stream)?;
    let mut shapes = shapes(PRODUCTS, [64.0, 6000.0]);
    shapes.extend(USUAL.map(Shape::square));
    let mut samples = Vec::new();
    times::<f32>(gpu, &gemm, &shapes, &mut samples)?;
    times::<Bf16>(gpu, &gemm, &shapes, &mut samples)?;
    if let Some(path) = std::env::args().nth(2) {
        std::fs::write(&path, written(&samples))
            .map_err(|error| could_not(format!("cannot write {path}: {error}")))?;
    }
    let costs = Costs {
        device: gpu.info.name.clone(),
        driver: gpu.info.driver.clone(),
        date: catalog::time::utc(catalog::time::now()),
        clusters_at_once: gemm.clusters_at_once()?,
        ..Costs::committed()
    };
    print(&fit_to(&samples, costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_on_record_are_fitted_to_the_times_on_record() {
        let costs = Costs::committed();
        let samples = samples_on_record();
        assert_eq!(costs.kernels, fitted(&samples, &costs), "run cargo xtask tune v12");
        assert_eq!(costs.fastest, fastest(&samples));
    }

    /// The cost of choosing by expected times: the time of the chosen plan divided by that of the fastest, on record.
    #[test]
    fn the_chosen_plans_are_near_the_fastest() {
        let costs = Costs::committed();
        let mut by_product: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
        for Sample { kernel, shape, us } in samples_on_record() {
            let (name, suffix) = kernel.rsplit_once('_').expect("the type of C");
            let plan = PLANS.iter().find(|plan| name.ends_with(plan.name)).expect("a plan");
            let work = Work::without_gaps(shape, if suffix == "f32" { 4 } else { 2 });
            let expected = expected(&costs.kernels[&kernel], &terms(plan, &work, costs.at_once(plan)));
            by_product.entry((shape.to_string(), suffix.to_owned())).or_default().push((expected, us));
        }
        let mut logs = 0.0;
        for plans in by_product.values() {
            let chosen = plans.iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("some").1;
            let fastest = plans.iter().map(|plan| plan.1).fold(f64::INFINITY, f64::min);
            logs += (chosen / fastest).ln();
        }
        let mean = (logs / by_product.len() as f64).exp();
        assert!(mean < 1.03, "{mean}");
    }
}
