//! A kernel under test on a device: verified first, timed after.

use std::borrow::Cow;

use catalog::{Shape, Work};
use cudarc::driver::{LaunchConfig, sys::CUresult};
use records::Outcome;
use records::machine_code::{MachineCode, PredictedLaunch};
use records::record::{Accuracy, VerifiedRun};
use reference::{Answer, Problem};

use crate::device::session::{Launch, Session};
use crate::device::{counters::Report, cublas::Element};
use crate::error::{StepError, describe};
use crate::inputs::{Data, Real};
use crate::kernel::{Kernel, LaunchKind};
use crate::measure::case::{Case, stored};
use crate::measure::machine::{CodeKind, LoadedMachineCode, no_prediction};
use crate::measure::setup::{KernelOutcome, Purpose, Setup};
use crate::timing::{self, Competitor, yardstick};
use crate::verify::{self, Comparison};
use diagnosis::{Terms, WrongResult};

/// A kernel about to be measured.
pub(crate) struct Subject<'a> {
    pub setup: Setup<'a>,
    pub kernel: &'a Kernel,
    pub work: Work,
    pub config: LaunchConfig,
    /// The kernel as machine code; `None` where only the PTX runs.
    pub(crate) machine: Option<&'a LoadedMachineCode>,
}

type Make<'m, 'g, T, R = T> = &'m dyn Fn(CodeKind, Shape, LaunchConfig) -> Launch<'g, T, R>;

/// Inputs as the kernel takes them, with their answer.
struct TestInputs<'p, T: Real> {
    a: Cow<'p, [T]>,
    b: Option<Cow<'p, [T]>>,
    answer: Answer<'p>,
    /// Kind of the inputs. A transpose has reals only: its mistakes show on any data.
    data: Data,
}

impl<T: Real> TestInputs<'_, T> {
    fn n_out(&self) -> usize {
        self.answer.rows() * self.answer.cols()
    }
}

/// Outcome of a launch: an output with its comparison, or a kernel that produced none.
enum LaunchOutcome<T> {
    Output(Vec<T>, Comparison),
    Broken(Box<KernelOutcome>),
}

struct OnShape<'s, 'a, 'm, 'g, T, R> {
    subject: &'s Subject<'a>,
    shape: Shape,
    make: Make<'m, 'g, T, R>,
}

enum MachineCodeOutcome {
    /// The record, with the reason where the emulated device does not run the kernel, and the counted launch's report.
    Passed(Box<MachineCode>, Option<Report>),
    Failed(KernelOutcome),
}

impl<'a> Subject<'a> {
    /// Measures a product, on integers and on reals.
    pub(crate) fn product<'g, R: Real, T: Element<R>>(
        &self, problems: &[Problem<T>; 2], make: Make<'_, 'g, T, R>,
    ) -> Result<KernelOutcome, StepError> {
        let on_shape = OnShape { subject: self, shape: problems[0].shape, make };
        if let Some(why) = on_shape.too_slow()? {
            return Ok(KernelOutcome::not_run(why));
        }
        let all_inputs = problems.each_ref().map(|problem| {
            let (a, b) = stored(problem, self.work);
            TestInputs { a, b: Some(b), answer: problem.answer_of(self.work), data: problem.data }
        });
        let [_, reals] = &all_inputs;
        on_shape.measure(&all_inputs, problems[1].cpu_ms, || self.cublas(on_shape.shape, reals))
    }

    pub(crate) fn transpose<'g>(&self, case: &Case, make: Make<'_, 'g, f32>) -> Result<KernelOutcome, StepError> {
        let on_shape = OnShape { subject: self, shape: case.shape, make };
        if let Some(why) = on_shape.too_slow()? {
            return Ok(KernelOutcome::not_run(why));
        }
        let matrix = case.matrix();
        let inputs = TestInputs {
            a: Cow::Borrowed(matrix.elements.as_slice()),
            b: None,
            answer: matrix.answer(),
            data: Data::Reals,
        };
        let yardstick = || timing::copy::<f32>(self.setup.gpu, matrix.elements.len()).map(Some);
        on_shape.measure(&[inputs], matrix.cpu_ms, yardstick)
    }

    /// Prepares cuBLAS on the same inputs; `None` where the library is missing or its result is wrong.
    fn cublas<R: Real, T: Element<R>>(
        &self, shape: Shape, inputs: &TestInputs<'_, T>,
    ) -> Result<Option<Competitor<'a>>, StepError> {
        let gpu = self.setup.gpu;
        // cuBLAS is not compared with itself.
        if matches!(self.kernel.kind, LaunchKind::Cublas { .. }) {
            return Ok(None);
        }
        let (Ok(cublas), Some(b)) = (gpu.cublas(), &inputs.b) else { return Ok(None) };
        let (other, got) = match yardstick::yardstick(gpu, cublas, (self.work, shape), &inputs.a, b) {
            // cuBLAS multiplies 8-bit numbers of some sizes only.
            Err(StepError::CouldNot(why)) => {
                eprintln!("{why}; no comparison with it");
                return Ok(None);
            }
            other => other?,
        };
        let comparison = verify::compare(&inputs.answer, &got);
        if !comparison.is_right() {
            eprintln!(
                "cuBLAS's own product of {shape} is outside of the bound in {} elements; no comparison with it \
                 (do NVIDIA_TF32_OVERRIDE or CUBLAS_… variables make it less exact?)",
                comparison.n_wrong
            );
            return Ok(None);
        }
        Ok(Some(other))
    }

    /// Sets the checks and the budget of the next launch on the emulated device.
    fn set_checks(&self, shape: Shape, counts: bool) {
        use emulator_client::CheckLevel;
        let Some(emulator) = self.setup.gpu.emulator else { return };
        emulator.set_diagnosis(Some(false));
        emulator.set_budget(Some(shape.budget()));
        emulator.set_checks(Some(match (self.setup.purpose, counts) {
            (Purpose::Check, _) => CheckLevel::CheckedWithGlobalRaces,
            (Purpose::Bench, true) => CheckLevel::Count,
            (Purpose::Bench, false) => CheckLevel::Checked,
        }));
    }

    /// Returns a launch that was refused, or a kernel that went wrong.
    fn broken(&self, error: &StepError) -> Result<KernelOutcome, StepError> {
        let report = self.setup.gpu.report()?;
        let findings = report.as_ref().map_or(&[][..], |report| &report.findings);
        let texts: Vec<&str> = findings.iter().map(|finding| finding.text.as_str()).collect();
        let why = match (findings.first(), error) {
            (Some(finding), _) => finding.title.clone(),
            (None, StepError::Driver(error)) => format!("the driver reports {}", describe(*error)),
            (None, other) => other.to_string(),
        };
        Ok(KernelOutcome { outcome: Outcome::Failed { why, details: texts.join("\n") }, report, lost: true })
    }
}

impl<'a, T: Real, R: Real> OnShape<'_, 'a, '_, '_, T, R> {
    /// Verifies on all inputs, then times on the last.
    fn measure(
        &self, all_inputs: &[TestInputs<'_, T>], cpu_ms: f64,
        yardstick: impl FnOnce() -> Result<Option<Competitor<'a>>, StepError>,
    ) -> Result<KernelOutcome, StepError> {
        let mut accuracy = Accuracy { max_abs_error: 0.0, max_of_bound: 0.0, exact_on_integers: true };
        for (number, inputs) in all_inputs.iter().enumerate() {
            self.subject.set_checks(self.shape, number + 1 == all_inputs.len());
            let (got, comparison) = match self.run(CodeKind::Ptx, inputs)? {
                LaunchOutcome::Output(got, comparison) => (got, comparison),
                LaunchOutcome::Broken(measured) => return Ok(*measured),
            };
            if !comparison.is_right() {
                return self.wrong(inputs, &got, &comparison, number > 0);
            }
            accuracy.max_abs_error = accuracy.max_abs_error.max(comparison.max_abs_error);
            accuracy.max_of_bound = accuracy.max_of_bound.max(comparison.max_of_bound);
        }
        let mut report = self.subject.setup.gpu.report()?;
        let counters = report.as_ref().map(|report| report.total);
        let machine_code = match (self.subject.machine, all_inputs.last()) {
            (Some(machine), Some(inputs)) => match self.machine_code(machine, inputs)? {
                MachineCodeOutcome::Passed(machine_code, machine_report) => {
                    report = machine_report.or(report);
                    Some(machine_code)
                }
                MachineCodeOutcome::Failed(outcome) => return Ok(outcome),
            },
            _ => None,
        };
        let config = self.subject.config;
        let mut passed = VerifiedRun {
            grid: config.grid_dim.into(),
            block: config.block_dim.into(),
            dynamic_shared: config.shared_mem_bytes,
            accuracy,
            batch: 1,
            cpu_ms: Some(cpu_ms),
            counters,
            machine_code,
            ..VerifiedRun::default()
        };
        let is_timed = self.subject.setup.gpu.emulator.is_none() && self.subject.setup.purpose == Purpose::Bench;
        // Not empty: the kernel was verified on these inputs.
        if let Some(inputs) = all_inputs.last().filter(|_| is_timed) {
            self.time(inputs, yardstick()?, &mut passed)?;
        }
        Ok(KernelOutcome { outcome: Outcome::Passed(Box::new(passed)), report, lost: false })
    }

    /// Verifies and counts the kernel as machine code, and predicts its time.
    fn machine_code(
        &self, machine: &LoadedMachineCode, inputs: &TestInputs<'_, T>,
    ) -> Result<MachineCodeOutcome, StepError> {
        let mut found = MachineCode { cubin_sha256: machine.sha256.clone(), ..MachineCode::default() };
        if let Err(why) = &machine.function {
            found.predicted = no_prediction(match unsupported(why) {
                Some(mnemonic) => format!("the emulated GPU does not run machine code with `{mnemonic}`"),
                None => format!("the emulated GPU does not run its machine code: {why}"),
            });
            return Ok(MachineCodeOutcome::Passed(Box::new(found), None));
        }
        self.subject.set_checks(self.shape, true);
        let mut measured = match self.run(CodeKind::MachineCode, inputs)? {
            LaunchOutcome::Output(_, comparison) if comparison.is_right() => {
                let report = self.subject.setup.gpu.report()?;
                found.counters = report.as_ref().map(|report| report.total);
                found.predicted = self.predict(CodeKind::MachineCode, inputs)?;
                if machine.before.is_some() {
                    found.before = Some(self.predict(CodeKind::Before, inputs)?);
                }
                return Ok(MachineCodeOutcome::Passed(Box::new(found), report));
            }
            LaunchOutcome::Output(got, comparison) => self.wrong(inputs, &got, &comparison, true)?,
            LaunchOutcome::Broken(measured) => *measured,
        };
        if let Outcome::Failed { why, .. } = &mut measured.outcome {
            *why = format!("as machine code, and not as PTX: {why}");
        }
        Ok(MachineCodeOutcome::Failed(measured))
    }

    /// Returns the time that a real GPU would take, by the emulated one.
    fn predict(&self, which: CodeKind, inputs: &TestInputs<'_, T>) -> Result<PredictedLaunch, StepError> {
        let gpu = self.subject.setup.gpu;
        let Some(emulator) = gpu.emulator else { return Ok(no_prediction("this is a real GPU")) };
        let mut session = self.session(which, inputs)?;
        emulator.predict_next();
        session.launch()?;
        gpu.stream.synchronize()?;
        let predicted = emulator.report().and_then(|report| serde_json::from_str(&report).ok());
        Ok(predicted.unwrap_or_else(|| no_prediction("the emulated GPU gives none")))
    }

    fn session(&self, which: CodeKind, inputs: &TestInputs<'_, T>) -> Result<Session<'_, T, R>, StepError> {
        let launch = (self.make)(which, self.shape, self.subject.config);
        Session::new(self.subject.setup.gpu, launch, &inputs.a, inputs.b.as_deref(), inputs.n_out())
    }

    /// Launches once, and compares the output with the answer.
    fn run(&self, which: CodeKind, inputs: &TestInputs<'_, T>) -> Result<LaunchOutcome<R>, StepError> {
        let mut session = match self.session(which, inputs) {
            Ok(session) => session,
            Err(error) => return not_enough_memory(error),
        };
        Ok(match session.run() {
            Ok(got) => {
                let comparison = verify::compare(&inputs.answer, &got);
                LaunchOutcome::Output(got, comparison)
            }
            Err(error) => LaunchOutcome::Broken(Box::new(self.subject.broken(&error)?)),
        })
    }

    fn wrong(
        &self, inputs: &TestInputs<'_, T>, got: &[R], comparison: &Comparison, right_on_integers: bool,
    ) -> Result<KernelOutcome, StepError> {
        let result = WrongResult {
            answer: &inputs.answer,
            got: R::widen(got),
            comparison,
            work: self.subject.work,
            tile: self.subject.kernel.tile(),
            terms: inputs.b.as_ref().map(|b| Terms {
                shape: self.shape,
                a: T::widen(&inputs.a),
                b: T::widen(b),
                transposed: self.subject.work.transposed(),
            }),
            right_on_integers,
        };
        let diagnosis = result.diagnose();
        let data = inputs.data.label();
        Ok(KernelOutcome {
            outcome: Outcome::Failed { why: diagnosis.why, details: format!("on {data}: {}", diagnosis.details) },
            report: self.subject.setup.gpu.report()?,
            lost: false,
        })
    }

    /// Returns why a problem is too slow to run: a real GPU runs a smaller one first where this could take minutes.
    fn too_slow(&self) -> Result<Option<String>, StepError> {
        const PROBE: usize = 1024;
        let (shape, gpu) = (self.shape, self.subject.setup.gpu);
        let small = Shape { m: shape.m.min(PROBE), n: shape.n.min(PROBE), k: shape.k.min(PROBE) };
        if gpu.emulator.is_some() || small == shape {
            return Ok(None);
        }
        let Some(config) = self.subject.kernel.launch_config(small, gpu.info.n_sms) else { return Ok(None) };
        // A transpose has one input, of m x n.
        let a = vec![T::default(); small.m * if small.k > 0 { small.k } else { small.n }];
        let b = (small.k > 0).then(|| vec![T::default(); small.k * small.n]);
        let launch = (self.make)(CodeKind::Ptx, small, config);
        let mut session = Session::new(gpu, launch, &a, b.as_deref(), small.m * small.n)?;
        // The first launch of a kernel takes longer than the others. If it fails, the next one returns its error.
        let Ok(first) = session.time_ms(1) else { return Ok(None) };
        let took = if first < timing::TOO_SLOW_MS / 100.0 { session.time_ms(1)? } else { first };
        let expected = took * shape.volume() / small.volume();
        Ok((expected > timing::TOO_SLOW_MS).then(|| {
            format!("too slow: {small} takes {took:.0} ms, so {shape} would take about {:.0} s", expected / 1e3)
        }))
    }

    fn time(
        &self, inputs: &TestInputs<'_, T>, yardstick: Option<Competitor<'a>>, passed: &mut VerifiedRun,
    ) -> Result<(), StepError> {
        let Setup { gpu, duel, .. } = self.subject.setup;
        let mut session = self.session(CodeKind::Ptx, inputs)?;
        timing::time(gpu, &mut session, yardstick, duel, passed)?;
        drop(session);
        let launch = (self.make)(CodeKind::Ptx, self.shape, self.subject.config);
        passed.whole = Some(timing::whole(gpu, &launch, &inputs.a, inputs.b.as_deref(), inputs.n_out())?);
        Ok(())
    }
}

/// Returns the first instruction that a driver's log refuses: the mnemonic, of a text such as
/// `` `@P0 ELECT P1, URZ, PT` at 0x0120 ``. CUDA's interface returns the log as text only.
fn unsupported(log: &str) -> Option<&str> {
    let (_, refused) = log.split_once("unsupported `").or_else(|| log.split_once("does not support: `"))?;
    let (text, place) = refused.split_once('`')?;
    text.split(' ').find(|word| place.starts_with(" at 0x") && !word.starts_with('@'))
}

/// Converts "out of memory" to "not run": other processes may hold memory of the device.
fn not_enough_memory<T>(error: StepError) -> Result<LaunchOutcome<T>, StepError> {
    match error {
        StepError::Driver(error) if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            Ok(LaunchOutcome::Broken(Box::new(KernelOutcome::not_run("not enough free memory on the device"))))
        }
        other => Err(other),
    }
}
