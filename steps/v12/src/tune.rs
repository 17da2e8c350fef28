//! `tune`: measures what products cost with each plan, and fits the constants by which the library chooses.
//!
//! The sizes are drawn by a seed. Every plan is verified on every product; on a GPU it is timed, as a graph of
//! launches. The emulated device has no times: there the constants are fitted again to those on record, as after a
//! change of terms. Each type of A and B has constants of its own; `tune FILE tf32 e4m3` leaves those of others as they
//! are; `--new` measures only the kernels of plans that have no times on record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::process::ExitCode;

use catalog::statistics::fit;
use cudarc::driver::CudaSlice;
use harness::inputs::{Data, Real};
use harness::library::ExactOperands;
use harness::{Bf16, E4m3, Gpu, Shape, StepError};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use v12::gemm::{Costs, Factor, Gemm, Output, Product, To, kernel_names, list_of};
use v12::plans::{PACKING, TERMS, Work, expected, terms};
use v12::predicted::{of_machine_code, table};
use v12::samples::{self, Sample};

const SEED: u64 = 2027;
/// Shapes of all types are drawn by bf16's lines of L2, so that types can be compared. For e4m3 these are half lines,
/// and about half of the shapes whose rows start on 16 bytes in bf16 are packed.
const LINE: usize = Bf16::LINE;
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
const NEW: &str = "--new";

/// Runs the command `tune`: prints the costs as JSON, and everything else to standard error.
pub(crate) fn main() -> ExitCode {
    let (options, words): (Vec<_>, Vec<_>) = std::env::args().skip(2).partition(|word| word == NEW);
    let types = words.get(1..).unwrap_or_default();
    let tuned = Gpu::find().and_then(|gpu| tune(&gpu, words.first(), types, !options.is_empty()));
    harness::exit_code(tuned.map(|()| ExitCode::SUCCESS))
}

/// Runs the command `plans TYPE SHAPE…`: prints the plans for products by their predicted times.
pub(crate) fn plans() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(2).collect();
    harness::exit_code(Gpu::find().and_then(|gpu| predict(&gpu, &words)).map(|()| ExitCode::SUCCESS))
}

fn predict(gpu: &Gpu, words: &[String]) -> Result<(), StepError> {
    let (name, shapes) = words.split_first().ok_or_else(|| could_not("no type of A and B is named"))?;
    check_types(std::slice::from_ref(name))?;
    let shapes: Vec<Shape> =
        shapes.iter().map(|shape| shape.parse().map_err(could_not)).collect::<Result<_, _>>()?;
    match name.as_str() {
        <Bf16 as Factor>::NAME => write_tables::<Bf16>(gpu, &shapes),
        <f32 as Factor>::NAME => write_tables::<f32>(gpu, &shapes),
        _ => write_tables::<E4m3>(gpu, &shapes),
    }
}

fn write_tables<T: Tuned>(gpu: &Gpu, shapes: &[Shape]) -> Result<(), StepError> {
    let gemm = of_machine_code::<T>(gpu)?;
    shapes.iter().try_for_each(|shape| harness::out::write(&(T::tables(gpu, &gemm, *shape)? + "\n")))
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

/// Products of one type with one kind of sums, to C of one type.
struct Operands<T, R> {
    exact: ExactOperands<T, R>,
    /// Numbers with all their bits, which take as much power as those of programs: for times.
    reals: [CudaSlice<T>; 2],
    fast_sums: bool,
}

impl<T: To<R>, R: Output + Real> Operands<T, R> {
    fn new(gpu: &Gpu, shapes: &[Shape], fast_sums: bool) -> Result<Self, StepError> {
        let exact = ExactOperands::new(gpu, shapes)?;
        let reals = |operand, n| {
            gpu.stream.clone_htod(&harness::inputs::elements::<T>(Data::Reals, SEED, operand, 1, n))
        };
        Ok(Self { reals: [reals(0, exact.a.len())?, reals(1, exact.b.len())?], exact, fast_sums })
    }

    fn product(&self, shape: Shape) -> Product<'static, R> {
        Product { fast_sums: self.fast_sums, ..Product::new(shape) }
    }

    fn multiply(&mut self, gemm: &Gemm<T>, shape: Shape, plan: usize) -> Result<(), StepError> {
        let product = self.product(shape);
        let ExactOperands { a, b, c } = &mut self.exact;
        Ok(gemm.multiply_by(&product, Some(plan), a, b, c)?)
    }

    /// Enqueues a product of operands that are stored as kernels read them.
    fn multiply_reals(&mut self, gemm: &Gemm<T>, shape: Shape, plan: usize) -> Result<(), StepError> {
        let product = Product { fast_sums: self.fast_sums, ..Product::as_read::<T>(shape) };
        let [a, b] = &self.reals;
        Ok(gemm.multiply_by(&product, Some(plan), a, b, &mut self.exact.c)?)
    }
}

/// Receives a kernel, a shape, and the product of reals by it.
type Then<'a> =
    dyn FnMut(&str, Shape, &mut dyn FnMut() -> Result<(), StepError>) -> Result<(), StepError> + 'a;

/// What is measured: products of these shapes, by all kernels but the known ones.
struct Wanted<'a> {
    shapes: &'a [Shape],
    known: BTreeSet<String>,
}

/// Calls `then` for every plan of every shape, after its product was verified.
fn each<T: To<R>, R: Output + Real>(
    gpu: &Gpu,
    gemm: &Gemm<T>,
    Wanted { shapes, known }: &Wanted<'_>,
    fast_sums: bool,
    then: &mut Then<'_>,
) -> Result<(), StepError> {
    let mut operands = Operands::<T, R>::new(gpu, shapes, fast_sums)?;
    for (i, shape) in shapes.iter().copied().enumerate() {
        let mut right = None;
        let product = operands.product(shape);
        let names = kernel_names::<T>().swap_remove(list_of::<T, R>(&product));
        let possible = gemm.possible_plans(&product).into_iter().map(|(plan, _)| plan);
        for plan in possible.filter(|plan| !known.contains(&names[*plan])) {
            operands.multiply(gemm, shape, plan)?;
            if !operands.exact.is_right(gpu, shape, &mut right)? {
                return Err(could_not(format!("{shape}: {} is wrong", names[plan])));
            }
            then(&names[plan], shape, &mut || operands.multiply_reals(gemm, shape, plan))?;
        }
        eprint!("\r{} of {} products of {} to {}", i + 1, shapes.len(), T::NAME, R::SUFFIX);
    }
    eprintln!();
    Ok(())
}

/// A type whose products of all kinds are measured, or predicted.
trait Tuned: Factor {
    /// Returns the plans for a product by their predicted times, for each type of C.
    fn tables(gpu: &Gpu, gemm: &Gemm<Self>, shape: Shape) -> Result<String, StepError>;

    fn each(gpu: &Gpu, gemm: &Gemm<Self>, wanted: &Wanted<'_>, then: &mut Then<'_>) -> Result<(), StepError>;
}

impl Tuned for Bf16 {
    fn tables(gpu: &Gpu, gemm: &Gemm<Self>, shape: Shape) -> Result<String, StepError> {
        Ok(table::<Self, f32>(gpu, gemm, shape)? + "\n" + &table::<Self, Self>(gpu, gemm, shape)?)
    }

    fn each(gpu: &Gpu, gemm: &Gemm<Self>, wanted: &Wanted<'_>, then: &mut Then<'_>) -> Result<(), StepError> {
        each::<Self, f32>(gpu, gemm, wanted, false, then)?;
        each::<Self, Self>(gpu, gemm, wanted, false, then)
    }
}

impl Tuned for f32 {
    fn tables(gpu: &Gpu, gemm: &Gemm<Self>, shape: Shape) -> Result<String, StepError> {
        table::<Self, Self>(gpu, gemm, shape)
    }

    fn each(gpu: &Gpu, gemm: &Gemm<Self>, wanted: &Wanted<'_>, then: &mut Then<'_>) -> Result<(), StepError> {
        each::<Self, Self>(gpu, gemm, wanted, false, then)
    }
}

impl Tuned for E4m3 {
    fn tables(gpu: &Gpu, gemm: &Gemm<Self>, shape: Shape) -> Result<String, StepError> {
        Ok(table::<Self, f32>(gpu, gemm, shape)? + "\n" + &table::<Self, Bf16>(gpu, gemm, shape)?)
    }

    fn each(gpu: &Gpu, gemm: &Gemm<Self>, wanted: &Wanted<'_>, then: &mut Then<'_>) -> Result<(), StepError> {
        for fast_sums in [false, true] {
            each::<Self, f32>(gpu, gemm, wanted, fast_sums, then)?;
            each::<Self, Bf16>(gpu, gemm, wanted, fast_sums, then)?;
        }
        Ok(())
    }
}

/// Fits the constants of each kernel of a type that has samples to them. Where a kernel is slower than others, its time
/// hardly matters for the choice: the weight of a sample is the square of how near it is to the fastest.
fn fitted<T: Factor>(samples: &[Sample], costs: &Costs) -> BTreeMap<String, [f64; TERMS]> {
    let mut kernels = BTreeMap::new();
    for (names, (_, result_bytes)) in kernel_names::<T>().into_iter().zip(T::RESULTS.iter().cycle()) {
        let mut fastest = BTreeMap::new();
        for sample in samples.iter().filter(|sample| names.contains(&sample.kernel)) {
            fastest.entry(sample.shape).and_modify(|us| *us = sample.us.min(*us)).or_insert(sample.us);
        }
        for (plan, name) in T::PLANS.iter().zip(names) {
            let own = samples.iter().filter(|sample| sample.kernel == name);
            let times: Vec<_> = own
                .map(|&Sample { shape, us, .. }| {
                    let work = Work::without_gaps(shape, size_of::<T>(), *result_bytes, T::B_BY_K);
                    let weight = (fastest[&shape] / us).powi(2);
                    (terms(plan, &work, costs.at_once(plan)), us, weight)
                })
                .collect();
            if times.is_empty() {
                continue;
            }
            let constants = fit(&times).map(rounded);
            let errors =
                times.iter().map(|(terms, us, _)| 100.0 * (expected(&constants, terms) / us - 1.0).abs());
            let mean = errors.clone().sum::<f64>() / times.len() as f64;
            let worst = errors.fold(0.0, f64::max);
            eprintln!("{name}: {} times within {mean:.1} % on average, {worst:.0} % at worst", times.len());
            kernels.insert(name, constants);
        }
    }
    share_packing(&mut kernels);
    kernels
}

/// Returns a constant with the digits that a file has.
fn rounded(constant: f64) -> f64 {
    (constant * 1e5).round() / 1e5
}

/// Gives kernels whose times say nothing of packing, which is not free, the mean costs that others have of it.
fn share_packing(kernels: &mut BTreeMap<String, [f64; TERMS]>) {
    let (with, without): (Vec<_>, Vec<_>) =
        kernels.values_mut().partition(|constants| constants[PACKING] > 0.0);
    let mean = |i: usize| with.iter().map(|constants| constants[i]).sum::<f64>() / with.len().max(1) as f64;
    let means: [f64; TERMS - PACKING] = std::array::from_fn(|i| rounded(mean(PACKING + i)));
    for constants in without {
        constants[PACKING..].copy_from_slice(&means);
    }
}

/// Returns the fastest kernels of the usual sizes that have samples, for each list of a type's kernels.
fn fastest<T: Factor>(samples: &[Sample]) -> BTreeMap<String, Vec<String>> {
    let of = |size: usize| {
        let shape = Shape::square(size);
        let of_list = |names: Vec<String>| {
            let own = samples.iter().filter(|sample| sample.shape == shape && names.contains(&sample.kernel));
            own.min_by(|a, b| a.us.total_cmp(&b.us)).map(|sample| sample.kernel.clone())
        };
        Some((shape.to_string(), kernel_names::<T>().into_iter().map(of_list).collect::<Option<_>>()?))
    };
    USUAL.into_iter().filter_map(of).collect()
}

fn fit_to<T: Factor>(samples: &[Sample], costs: Costs) -> Costs {
    Costs { kernels: fitted::<T>(samples, &costs), fastest: fastest::<T>(samples), ..costs }
}

/// Returns the samples of a file, or where there is none, those that were there when this was built.
fn samples_on_record(file: Option<&String>) -> Result<Vec<Sample>, StepError> {
    Ok(match file.map(std::fs::read_to_string) {
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(could_not(error)),
        Some(Ok(text)) => samples::read(&text),
        _ => samples::committed(),
    })
}

/// Verifies all plans of a type on the emulated device, and fits its costs again where they are on record.
fn verify<T: Tuned>(
    gpu: &Gpu,
    samples: &[Sample],
    all: &mut BTreeMap<String, Costs>,
) -> Result<(), StepError> {
    let gemm = Gemm::load(&gpu.stream)?;
    let wanted = Wanted { shapes: &shapes(FEW_PRODUCTS, [60.0, 200.0]), known: BTreeSet::new() };
    T::each(gpu, &gemm, &wanted, &mut |_, _, _| Ok(()))?;
    let (known, names) = (Costs::of::<T>(), kernel_names::<T>().concat());
    if samples.iter().any(|sample| names.contains(&sample.kernel)) {
        eprintln!(
            "The emulated device has no time of these kernels: the costs are fitted again to times of {}.",
            known.device
        );
        all.insert(T::NAME.to_owned(), fit_to::<T>(samples, known));
    } else {
        eprintln!("The costs of {} stay: the times that they were fitted to are not on record.", T::NAME);
    }
    Ok(())
}

/// Replaces the samples and the costs of a type by those of this GPU; of kernels that have samples, not if `only_new`.
fn measure<T: Tuned>(
    gpu: &Gpu,
    (samples, only_new): (&mut Vec<Sample>, bool),
    all: &mut BTreeMap<String, Costs>,
) -> Result<(), StepError> {
    let (names, costs) = (kernel_names::<T>().concat(), Costs::of::<T>());
    if only_new && costs.device != gpu.info.name {
        return Err(could_not(format!("times on record are of {}: measure all without {NEW}", costs.device)));
    }
    samples.retain(|sample| only_new || !names.contains(&sample.kernel));
    let known = samples.iter().map(|sample| sample.kernel.clone()).collect();
    let gemm = Gemm::<T>::load(&gpu.stream)?;
    let mut shapes = shapes(PRODUCTS, [64.0, 6000.0]);
    shapes.extend(USUAL.map(Shape::square));
    T::each(gpu, &gemm, &Wanted { shapes: &shapes, known }, &mut |kernel, shape, product| {
        let us = gpu.replayed_us(BATCH_MS, 2..=200, ROUNDS, product)?;
        // As many digits as the file has: from it the same constants are fitted.
        let us = (us * 1e3).round() / 1e3;
        samples.push(Sample { kernel: kernel.to_owned(), shape, us });
        Ok(())
    })?;
    let costs = Costs {
        device: gpu.info.name.clone(),
        driver: gpu.info.driver.clone(),
        date: catalog::time::utc(catalog::time::now()),
        clusters_at_once: gemm.clusters_at_once()?,
        ..costs
    };
    all.insert(T::NAME.to_owned(), fit_to::<T>(samples, costs));
    Ok(())
}

fn check_types(types: &[String]) -> Result<(), StepError> {
    const TYPES: [&str; 3] = [Bf16::NAME, f32::NAME, E4m3::NAME];
    match types.iter().find(|name| !TYPES.contains(&name.as_str())) {
        Some(unknown) => {
            let known = TYPES.join(", ");
            Err(could_not(format!("there are no products of {unknown} here, but of {known}")))
        }
        None => Ok(()),
    }
}

/// Measures or verifies the named types, or all without names; writes the samples to a file on a GPU.
fn tune(gpu: &Gpu, file: Option<&String>, types: &[String], only_new: bool) -> Result<(), StepError> {
    check_types(types)?;
    let (mut samples, mut all) = (samples_on_record(file)?, Costs::committed());
    let is_meant = |name: &str| types.is_empty() || types.iter().any(|known| known == name);
    macro_rules! each_type {
        ($run:ident($samples:expr) of $($type:ty),*) => {
            $(if is_meant(<$type>::NAME) { $run::<$type>(gpu, $samples, &mut all)?; })*
        };
    }
    if gpu.emulator.is_some() {
        each_type!(verify(&samples) of Bf16, f32, E4m3);
    } else {
        each_type!(measure((&mut samples, only_new)) of Bf16, f32, E4m3);
        if let Some(path) = file {
            std::fs::write(path, samples::written(&samples))
                .map_err(|error| could_not(format!("cannot write {path}: {error}")))?;
        }
    }
    let text = serde_json::to_string_pretty(&all).map_err(could_not)?;
    harness::out::write(&format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_fitted<T: Factor>() {
        let costs = Costs::of::<T>();
        let samples = samples_on_record(None).expect("they are built in");
        assert_eq!(costs.kernels, fitted::<T>(&samples, &costs), "run cargo xtask tune v12");
        assert_eq!(costs.fastest, fastest::<T>(&samples));
        assert!(near_the_fastest::<T>(&samples, &costs) < 1.03);
    }

    #[test]
    fn costs_on_record_are_fitted_to_the_times_on_record_and_choose_well() {
        are_fitted::<Bf16>();
        are_fitted::<f32>();
        are_fitted::<E4m3>();
    }

    #[test]
    fn known_kernels_are_not_measured() {
        let gpu = Gpu::find().expect("the emulated one");
        let gemm = Gemm::<f32>::load(&gpu.stream).expect("it has kernels");
        let (new, known) =
            kernel_names::<f32>().concat().into_iter().partition::<Vec<_>, _>(|name| name.contains("any"));
        let wanted = Wanted { shapes: &[Shape::square(64)], known: known.into_iter().collect() };
        let mut measured = Vec::new();
        let then = &mut |kernel: &str, _, _: &mut dyn FnMut() -> _| {
            measured.push(kernel.to_owned());
            Ok(())
        };
        f32::each(&gpu, &gemm, &wanted, then).expect("they are right");
        assert_eq!(measured, new);
    }

    /// Returns the cost of choosing by expected times: the mean time of chosen plans, divided by that of the fastest.
    fn near_the_fastest<T: Factor>(samples: &[Sample], costs: &Costs) -> f64 {
        let mut logs = Vec::new();
        for (names, (_, result_bytes)) in kernel_names::<T>().iter().zip(T::RESULTS.iter().cycle()) {
            let mut by_shape: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
            for &Sample { ref kernel, shape, us } in samples {
                let Some(i) = names.iter().position(|name| name == kernel) else { continue };
                let work = Work::without_gaps(shape, size_of::<T>(), *result_bytes, T::B_BY_K);
                let plan = &T::PLANS[i];
                let expected = expected(&costs.kernels[kernel], &terms(plan, &work, costs.at_once(plan)));
                by_shape.entry(shape.to_string()).or_default().push((expected, us));
            }
            for plans in by_shape.values() {
                let chosen = plans.iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("some").1;
                let fastest = plans.iter().map(|plan| plan.1).fold(f64::INFINITY, f64::min);
                logs.push((chosen / fastest).ln());
            }
        }
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    }
}
