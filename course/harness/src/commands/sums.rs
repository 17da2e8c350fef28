//! `sums`: each kernel on small shapes, and a checksum of the bits of C, by which devices are compared.
//!
//! Nothing is timed, and nothing is compared with the reference: that is what `bench` and `check` do, on the same
//! inputs. Launches count on a fixed number of multiprocessors, so that blocks share out the work in the same way
//! everywhere. On the emulated device all checks are on; on a real one each kernel runs twice, and cuBLAS beside it.

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use catalog::{Shape, Work, sizes};
use catalog::{process::Exit, provenance::sha256};
use emulator_client::CheckLevel;
use records::record::Line;
use records::sums::{BY_MULTIPROCESSORS, MULTIPROCESSORS, Sum, SumsRecord};

use crate::args::Common;
use crate::device::session::{Launch, Session};
use crate::device::{Gpu, cublas::Element};
use crate::error::StepError;
use crate::inputs::{Data, Real, elements, transposed};
use crate::kernel::{Kernel, LaunchKind, match_launch};
use crate::measure::{cannot_run, gemm, machine, too_large, transpose};
use crate::out;
use crate::{step_run::StepRun, timing::yardstick};

pub(crate) fn run(step_run: &mut StepRun<'_>) -> Result<ExitCode, StepError> {
    let gpu = step_run.gpu()?;
    if gpu.emulator.is_none() {
        match gpu.cublas() {
            Ok(cublas) => {
                let version = cublas.version.clone();
                step_run.run.cublas = Some(version);
            }
            Err(why) => eprintln!("no sums of cuBLAS: {why}"),
        }
    }
    if step_run.common.json {
        out::json(&Line::Run(Box::new(step_run.run.clone())))?;
    }
    let mut failed = false;
    for kernel in step_run.kernels.clone() {
        if kernel.code().is_none() {
            continue;
        }
        for shape in sizes::summed(step_run.work(kernel)) {
            out::progress(&format!("{} on {shape}", kernel.shown_name()));
            let sum = step_run.sum(kernel, *shape, MULTIPROCESSORS, CheckLevel::CheckedWithGlobalRaces);
            out::progress_done();
            match sum {
                Ok(sum) if step_run.common.json => out::json(&Line::Sum(Box::new(sum)))?,
                Ok(sum) => out::write(&sum_line(&sum))?,
                // Other kernels are worth having all the same, in a new context: this one may have broken the old.
                Err(StepError::CouldNot(why)) => {
                    eprintln!("{why}");
                    failed = true;
                    step_run.discard_gpu();
                    break;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Passed }.into())
}

fn sum_line(sum: &Sum) -> String {
    let Sum { kernel, shape, .. } = sum;
    if let Some(why) = &sum.not_run {
        return format!("{kernel} on {shape}: not run: {why}\n");
    }
    let beside = match sum.is_cublas() {
        Some(true) => ", as cuBLAS's",
        Some(false) => ", not as cuBLAS's",
        None => "",
    };
    format!("{kernel} on {shape}: {}{beside}\n", sum.c_sha256)
}

impl StepRun<'_> {
    /// Computes the sum of C of a kernel, launched as with this number of multiprocessors, with the given checks.
    ///
    /// # Errors
    /// Returns an error if the launch goes wrong, a check finds something, or C is not the same in a second launch.
    pub(crate) fn sum(
        &mut self, kernel: &Kernel, shape: Shape, multiprocessors: usize, checks: CheckLevel,
    ) -> Result<Sum, StepError> {
        let mut sum = Sum {
            run: self.run.id.clone(),
            step: self.step.id.into(),
            kernel: kernel.shown_name(),
            shape,
            seed: self.common.seed,
            multiprocessors,
            ptx_sha256: self.ptx_sha256(kernel),
            c_sha256: String::new(),
            cublas_sha256: None,
            not_run: None,
        };
        let (work, ptx) = (self.work(kernel), self.ptx.clone());
        let gpu = self.gpu()?;
        let (Some(config), Some(code)) = (kernel.launch_config(shape, multiprocessors), kernel.code()) else {
            sum.not_run = Some("it is not a kernel of ours".into());
            return Ok(sum);
        };
        let lacks = cannot_run(gpu, kernel, shape, ptx.as_deref()).or_else(|| too_large(gpu, config));
        if lacks.is_some() {
            sum.not_run = lacks;
            return Ok(sum);
        }
        if let Some(emulator) = gpu.emulator {
            emulator.set_diagnosis(Some(false));
            emulator.set_budget(Some(shape.budget()));
            emulator.set_checks(Some(checks));
        }
        let function = machine::load(gpu, kernel, code, ptx.as_deref(), shape)?;
        let seed = sum.seed;
        let LaunchKind::Device { launch, .. } = kernel.kind else { return Ok(sum) };
        let summed = match_launch!(
            launch,
            launch => product(gpu, gemm(gpu, function, launch, shape, config), work, shape, seed),
            launch => {
                let n = shape.m * shape.n;
                let input = elements::<f32>(Data::Reals, seed, 0, 1, n);
                let launch = transpose(gpu, function.kernel, launch, shape, config);
                repeated(gpu, launch, &input, None, n).map(|sum| (sum, None))
            },
        );
        (sum.c_sha256, sum.cublas_sha256) = summed
            .map_err(|error| StepError::CouldNot(format!("{} on {shape}: {}", kernel.name, found(gpu, error))))?;
        Ok(sum)
    }
}

/// Returns the sum of C, and on a real GPU cuBLAS's from the same operands.
fn product<R: Real, T: Element<R>>(
    gpu: &Gpu, launch: Launch<'_, T, R>, work: Work, shape: Shape, seed: u64,
) -> Result<(String, Option<String>), StepError> {
    let Shape { m, n, k } = shape;
    let is_transposed = work.transposed();
    let draw = |operand: u64, rows, cols| {
        let drawn = elements::<T>(Data::Reals, seed, operand, k, rows * cols);
        if is_transposed[operand as usize] { transposed(&drawn, rows, cols) } else { drawn }
    };
    let (a, b) = (draw(0, m, k), draw(1, k, n));
    let sum = repeated(gpu, launch, &a, Some(&b), m * n)?;
    if gpu.emulator.is_some() {
        return Ok((sum, None));
    }
    let Ok(cublas) = gpu.cublas() else { return Ok((sum, None)) };
    match yardstick::unasked::<R, T>(gpu, cublas, (work, shape), &a, &b) {
        Ok(theirs) => Ok((sum, Some(sum_of(&theirs)))),
        Err(StepError::CouldNot(why)) => {
            eprintln!("{why}");
            Ok((sum, None))
        }
        Err(error) => Err(error),
    }
}

/// Returns the sum of a launch's result; on a real GPU, whose order of blocks varies, two launches must agree.
fn repeated<T: Real, R: Real>(
    gpu: &Gpu, launch: Launch<'_, T, R>, a: &[T], b: Option<&[T]>, n_out: usize,
) -> Result<String, StepError> {
    let mut session = Session::new(gpu, launch, a, b, n_out)?;
    let first = session.run()?;
    let unwritten = first.iter().filter(|element| element.is_poison()).count();
    if unwritten > 0 {
        return Err(StepError::CouldNot(format!("{unwritten} of {n_out} elements of C were not written")));
    }
    let sum = sum_of(&first);
    if gpu.emulator.is_none() && sum_of(&session.run()?) != sum {
        return Err(StepError::CouldNot("a second launch gives another C".into()));
    }
    Ok(sum)
}

fn sum_of<R: Real>(elements: &[R]) -> String {
    let mut bytes = Vec::with_capacity(size_of_val(elements));
    for element in elements {
        element.append_to(&mut bytes);
    }
    sha256(&bytes)
}

/// Returns the finding of the checks, or else the error.
fn found(gpu: &Gpu, error: StepError) -> String {
    let first = gpu.report().ok().flatten().and_then(|report| report.findings.into_iter().next());
    first.map_or_else(|| error.to_string(), |finding| finding.title)
}

/// M·N·K from which the steps' tests leave a shape to the command, to save time.
const LARGE: f64 = 1e8;

/// Asserts, for the steps' tests, that the sums of all kernels on the emulated device are the recorded ones of a real
/// device, and do not depend on the number of multiprocessors, unless they are known to. Returns them.
///
/// This compares bits of C; `xtask check`, `tests/it/asynchronous.rs` and `hopper.rs` run the kernels with checks.
#[track_caller]
pub fn agree(step: &str, kernels: &[Kernel]) -> Vec<Sum> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/data/");
    let record = SumsRecord::references(std::path::Path::new(path));
    let record = record.unwrap_or_else(|error| panic!("{error}"));
    let found = catalog::find(step).expect("a step of the catalogue");
    let mut step_run = StepRun::new(found, kernels, &Common::emulated()).unwrap_or_else(|error| panic!("{error}"));
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for kernel in kernels.iter().filter(|kernel| kernel.code().is_some()) {
        let mut sum = |shape, multiprocessors| {
            let sum = step_run.sum(kernel, shape, multiprocessors, CheckLevel::Off);
            sum.unwrap_or_else(|error| panic!("{error}"))
        };
        let shapes = sizes::summed(found.kernel(kernel.name).expect("it is listed").work);
        let small = shapes.iter().filter(|shape| shape.volume() < LARGE);
        let sums = small.map(|shape| sum(*shape, MULTIPROCESSORS));
        let sums: Vec<Sum> = sums.filter(|sum| sum.not_run.is_none()).collect();
        wrong.extend(sums.iter().filter_map(|sum| record.complaint(sum)));
        // One block after another, and more than there are tiles of the smaller shapes.
        let others = [1, 7];
        let grid = |shape, n_sms| kernel.launch_config(shape, n_sms).map(|config| config.grid_dim);
        let mut differs = |one: &Sum, n_sms| {
            let is_other = grid(one.shape, n_sms) != grid(one.shape, MULTIPROCESSORS);
            is_other && sum(one.shape, n_sms).c_sha256 != one.c_sha256
        };
        let depends = sums.iter().any(|one| others.iter().any(|n_sms| differs(one, *n_sms)));
        if depends != BY_MULTIPROCESSORS.contains(&kernel.name) {
            wrong.push(format!(
                "{}: that C depends on the number of multiprocessors is {depends}, and records::sums::BY_MULTIPROCESSORS \
                 says otherwise",
                kernel.name
            ));
        }
        all.extend(sums);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    all
}
