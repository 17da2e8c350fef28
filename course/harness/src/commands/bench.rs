//! `bench`: runs every kernel on every requested size.

use std::process::ExitCode;

use catalog::process::Exit;
use std::path::{Path, PathBuf};

use catalog::{Shape, Work, sizes};
use catalog::{programs::ANSWERS, provenance::sha256};
use records::record::Line;
use records::{Measurement, Outcome, Record, Run};

use crate::measure::setup::{KernelOutcome, Purpose, Setup};
use crate::{args, device::roofline, error::StepError, kernel::Kernel, measure::case::Case, measure::measure};
use crate::{out, page, shapes};
use crate::{page::Entry, step_run::StepRun, timing::duel};

pub(crate) fn run(step_run: &mut StepRun<'_>, bench: &args::Bench) -> Result<ExitCode, StepError> {
    let emulated = step_run.gpu()?.emulator.is_some();
    let asked = if bench.recorded_shapes {
        None
    } else {
        Some(step_run.sizes(&bench.asked.sizes, shapes::default_size(emulated))?)
    };
    // Sizes on the command line that do not fit are refused before anything runs.
    for size in asked.iter().flatten() {
        for kernel in step_run.kernels.clone() {
            let work = step_run.work(kernel);
            if let Some(shape) = work.shape(*size) {
                shapes::check_fits(work, shape, step_run.gpu()?)?;
            }
        }
    }
    if bench.asked.duel && emulated {
        eprintln!("--duel needs a real GPU: on the emulated one nothing is timed");
    }
    step_run.duel = bench.asked.duel.then_some(duel::LONG);
    let file = |folder: &Path| folder.join(step_run.run.slug()).with_extension("json");
    let since = bench.since.as_deref().unwrap_or_default();
    let known = bench.unless_in.as_deref().map(file).map(read_record).transpose()?.flatten();
    step_run.measure_ceilings();
    if step_run.common.json {
        out::json(&Line::Run(Box::new(step_run.run.clone())))?
    } else {
        out::write(&page::header(step_run))?
    }
    let answers = std::env::var_os(ANSWERS).map(PathBuf::from);
    let (mut failed, mut ran) = (false, page::PassedKernels::default());
    for (case, kernels) in plan(step_run, asked.as_deref(), answers.as_deref()) {
        let mut entries = Vec::new();
        for kernel in kernels {
            if known.as_ref().is_some_and(|record| step_run.has_measured(record, kernel, case.shape, since)) {
                continue;
            }
            out::milestone(&format!("{} on {}", kernel.shown_name(), case.shape));
            let on_record = emulated && asked.is_none();
            let result = if on_record && too_large_to_count(kernel, case.shape) {
                KernelOutcome::not_run(
                    "too slow on the emulated GPU, which tells nothing new here; ask for the size to see",
                )
            } else {
                step_run.measure(kernel, &case, Purpose::Bench)?
            };
            failed |= matches!(result.outcome, Outcome::Failed { .. });
            let measurement = step_run.measurement(kernel, &case, result.outcome);
            if step_run.common.json {
                out::json(&Line::Measurement(Box::new(measurement.clone())))?;
            }
            entries.push(Entry { kernel, work: step_run.work(kernel), measurement, report: result.report });
        }
        out::progress_done();
        entries.iter().for_each(|entry| ran.add(entry));
        if !step_run.common.json {
            out::write(&page::case(case.shape, &step_run.run, &entries))?;
        }
    }
    if !step_run.common.json {
        out::write(&page::footer(step_run, ran))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Passed }.into())
}

/// Reads a record; `None` where there is no file yet.
fn read_record(path: PathBuf) -> Result<Option<Record>, StepError> {
    match Record::load(&path) {
        Err(error) if error.is_missing() => Ok(None),
        loaded => loaded.map(Some).map_err(|error| StepError::CouldNot(error.to_string())),
    }
}

/// Returns whether counting a kernel on the emulated device would take minutes. Kernels without PTX are not counted.
fn too_large_to_count(kernel: &Kernel, shape: Shape) -> bool {
    kernel.code().is_some() && shape.volume() > shapes::EMULATED
}

/// Pairs shapes with the kernels that run on them: shapes outermost, so that kernels share inputs and answers.
pub(crate) fn plan<'a>(
    step_run: &StepRun<'a>, asked: Option<&[Shape]>, answers: Option<&Path>,
) -> Vec<(Case, Vec<&'a Kernel>)> {
    let new = |shape| Case::new(shape, step_run.common.seed, answers.map(Path::to_owned));
    let mut plan: Vec<(Case, Vec<&'a Kernel>)> = Vec::new();
    for kernel in &step_run.kernels {
        let work = step_run.work(kernel);
        let shapes = asked.unwrap_or_else(|| sizes::recorded(work));
        // A product has no shape at a size without K.
        for shape in shapes.iter().filter_map(|size| work.shape(*size)) {
            match plan.iter_mut().find(|(case, _)| case.shape == shape) {
                // Two sizes that differ in K are one for a transpose.
                Some((_, kernels)) if kernels.iter().any(|known| known.shown_name() == kernel.shown_name()) => {}
                Some((_, kernels)) => kernels.push(kernel),
                None => plan.push((new(shape), vec![kernel])),
            }
        }
    }
    plan
}

impl StepRun<'_> {
    /// Returns the sizes from the command line, each one of at least one kernel; without any, the step's own.
    pub(crate) fn sizes(&self, sizes: &step_cli::Sizes, own: usize) -> Result<Vec<Shape>, StepError> {
        let asked = sizes.shapes()?;
        for size in &asked {
            let works = self.kernels.iter().map(|kernel| self.work(kernel));
            size.check_suits(self.step.id, works)?;
        }
        Ok(if asked.is_empty() { vec![Shape::square(own)] } else { asked })
    }

    pub(crate) fn work(&self, kernel: &Kernel) -> Work {
        self.step.kernel(kernel.name).map_or(Work::Sgemm, |k| k.work)
    }

    /// Loads cuBLAS and measures the ceilings of a real GPU, with which the results are compared.
    fn measure_ceilings(&mut self) {
        let Some(gpu) = self.gpu.as_ref().filter(|gpu| gpu.emulator.is_none()) else { return };
        match gpu.cublas() {
            Ok(cublas) => self.run.cublas = Some(cublas.version.clone()),
            Err(why) => eprintln!("no comparison with cuBLAS: {why}"),
        }
        match roofline::measure(gpu) {
            Ok(roofline) => self.run.roofline = Some(roofline),
            Err(why) => eprintln!("no roofline: {why}"),
        }
    }

    /// Measures a kernel on a case, in a new context where the last kernel broke the old one.
    pub(crate) fn measure(
        &mut self, kernel: &Kernel, case: &Case, purpose: Purpose,
    ) -> Result<KernelOutcome, StepError> {
        let work = self.work(kernel);
        self.gpu()?;
        let Some(gpu) = &self.gpu else { return Ok(KernelOutcome::not_run("there is no device")) };
        let duel = self.duel_of(kernel);
        let setup = Setup { gpu, purpose, ptx: self.ptx.as_deref(), cubins: &self.cubins, duel };
        let measured = measure(setup, kernel, work, case)?;
        if measured.lost {
            self.discard_gpu();
        }
        Ok(measured)
    }

    /// Returns the duel of a kernel. In steps on tensor cores there always is one: power limits them, and samples that
    /// alternate would share a clock.
    fn duel_of(&self, kernel: &Kernel) -> Option<duel::Plan> {
        let is_tensor = self.step.kernels.iter().any(|kernel| matches!(kernel.work, Work::Tensor { .. }));
        let own = if kernel.code().is_some() { duel::BURSTS } else { duel::SHORT };
        self.duel.or_else(|| is_tensor.then_some(own))
    }

    /// Returns whether a record has a kernel's measurement on a shape by the same code, of this day or later. Where a
    /// duel is wanted, it has one as good.
    fn has_measured(&self, record: &Record, kernel: &Kernel, shape: Shape, since: &str) -> bool {
        let Some(known) = record.measurement(&kernel.shown_name(), shape) else { return false };
        let is_new = |run: &Run| run.device == self.run.device && run.date.as_str() >= since;
        let has_duel = |plan: duel::Plan| match &known.outcome {
            Outcome::Passed(passed) if passed.yardstick.is_some() => {
                passed.duel().is_some_and(|duel| plan.is_met_by(duel, passed.power.as_ref()))
            }
            _ => true,
        };
        let is_same = known.ptx_sha256 == self.ptx_sha256(kernel) && record.run_of(known).is_some_and(is_new);
        is_same && self.duel_of(kernel).is_none_or(has_duel)
    }

    fn measurement(&self, kernel: &Kernel, case: &Case, outcome: Outcome) -> Measurement {
        Measurement {
            run: self.run.id.clone(),
            step: self.step.id.into(),
            kernel: kernel.shown_name(),
            shape: case.shape,
            seed: self.common.seed,
            ptx_sha256: self.ptx_sha256(kernel),
            outcome,
        }
    }

    /// Returns the hash of the PTX that runs; empty for what is not a kernel.
    pub(crate) fn ptx_sha256(&self, kernel: &Kernel) -> String {
        let ptx = self.ptx.as_deref().or(kernel.code().map(|code| code.ptx));
        ptx.map(|text| sha256(text.as_bytes())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Cpu, KernelSource};

    #[test]
    fn only_what_the_emulated_device_counts_can_be_too_large_for_it() {
        let geometry = |_| unreachable!("nothing is launched");
        let counted =
            Kernel::sgemm("any", KernelSource { text: "", ptx: "", cubin: &[], rust: None }, geometry, |_| Ok(()));
        let multiply = |_, _: &[f32], _: &[f32], _: &mut [f32]| {};
        let timed = Kernel::cpu("any", Cpu { multiply, largest: f64::MAX, bound: None, yardstick: ("any", multiply) });
        let large = Shape::square(2048);
        assert!(too_large_to_count(&counted, large));
        assert!(!too_large_to_count(&counted, Shape::square(1024)));
        assert!(!too_large_to_count(&timed, large));
    }
}
