//! One kernel on one shape: verify, and then, on a real GPU, time.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Instant;

use cudarc::cublas::result::CublasError;
use cudarc::driver::{CudaFunction, LaunchConfig};
use ladder::record::{Accuracy, Passed};
use ladder::{Outcome, Shape, Work};
use serde_json::Value;

use crate::case::{Case, stored};
use crate::cublas::{self, Element};
use crate::device::Gpu;
use crate::inputs::{Data, Real};
use crate::kernel::{
    ElementBound, Gemm, Kernel, LaunchGemm, LaunchTranspose, Multiply, MultiplyCublas, OpenCublas, Product,
    Program, Transpose,
};
use crate::reference::Problem;
use crate::session::{self, Launch, Session};
use crate::timing;
use crate::trouble::{Trouble, words};
use crate::verify::{self, Answer};

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Verify, count on the emulated device, time on a real one.
    Bench,
    /// Verify with all checks.
    Check,
}

/// What came out, and the emulated device's report of the last launch.
#[derive(Debug)]
pub struct Measured {
    /// For the record.
    pub outcome: Outcome,
    /// Counters per source line, findings.
    pub report: Option<Value>,
    /// Whether a kernel broke the context: whoever goes on needs another.
    pub lost: bool,
}

impl From<Outcome> for Measured {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            report: None,
            lost: false,
        }
    }
}

fn not_run(why: impl Into<String>) -> Measured {
    Outcome::NotRun { why: why.into() }.into()
}

/// Verifies and measures.
///
/// # Errors
/// When something fails that is not the kernel's fault.
pub fn measure(
    gpu: &Gpu,
    kernel: &Kernel,
    work: Work,
    ptx: Option<&str>,
    case: &Case,
    purpose: Purpose,
) -> Result<Measured, Trouble> {
    let shape = case.shape;
    if let Err(why) = crate::shapes::fits(work, shape, gpu) {
        return Ok(not_run(why));
    }
    let Some(config) = kernel.config(shape) else {
        return match kernel.program {
            Program::Cpu {
                multiply,
                largest,
                bound,
            } => Ok(cpu(kernel, multiply, largest, bound, case)),
            Program::Cublas { open, multiply } => library(gpu, kernel, (open, multiply), case, purpose),
            _ => Ok(not_run("has no launch")),
        };
    };
    if let Some(why) = too_large(gpu, config) {
        return Ok(not_run(why));
    }
    let ptx = match (ptx, kernel.code()) {
        (Some(ptx), _) => ptx,
        (None, Some(code)) => code.ptx,
        (None, None) => "",
    };
    let function = session::load(gpu, ptx, kernel.name)?;
    let subject = Subject {
        gpu,
        kernel,
        work,
        config,
        purpose,
    };
    match kernel.program {
        Program::Sgemm { launch, .. } => subject.product(case.single(), &|shape, config| {
            gemm(gpu, function.clone(), launch, shape, config)
        }),
        Program::Dgemm { launch, .. } => subject.product(case.double(), &|shape, config| {
            gemm(gpu, function.clone(), launch, shape, config)
        }),
        Program::Transpose { launch, .. } => subject.transpose(case, &|shape, config| {
            transpose(gpu, function.clone(), launch, shape, config)
        }),
        Program::Cpu { .. } | Program::Cublas { .. } => Ok(not_run("has no launch")),
    }
}

/// A step's launch, as sessions want it.
pub(crate) fn gemm<'g, T: Real>(
    gpu: &'g Gpu,
    kernel: CudaFunction,
    launch: LaunchGemm<T>,
    shape: Shape,
    config: LaunchConfig,
) -> Launch<'g, T> {
    Box::new(move |operands| {
        let b = operands.b.expect("a product has two inputs");
        Ok(launch(Gemm {
            stream: &gpu.stream,
            kernel: &kernel,
            config,
            shape,
            a: operands.a,
            b,
            c: operands.c,
        })?)
    })
}

/// The same of a transpose.
pub(crate) fn transpose(
    gpu: &Gpu,
    kernel: CudaFunction,
    launch: LaunchTranspose,
    shape: Shape,
    config: LaunchConfig,
) -> Launch<'_, f32> {
    Box::new(move |operands| {
        Ok(launch(Transpose {
            stream: &gpu.stream,
            kernel: &kernel,
            config,
            shape,
            input: operands.a,
            output: operands.c,
        })?)
    })
}

/// A step's call of cuBLAS: the same verification and the same clock as for kernels.
fn library(
    gpu: &Gpu,
    kernel: &Kernel,
    (open, multiply): (OpenCublas, MultiplyCublas),
    case: &Case,
    purpose: Purpose,
) -> Result<Measured, Trouble> {
    if let Err(why) = cublas::provide(gpu) {
        return Ok(not_run(why));
    }
    let blas = match open(gpu.stream.clone()) {
        Ok(blas) => Rc::new(blas),
        Err(CublasError(status)) => return Ok(not_run(format!("cuBLAS does not start: {status:?}"))),
    };
    let subject = Subject {
        gpu,
        kernel,
        work: Work::Cublas,
        // The library chooses, and does not say.
        config: LaunchConfig {
            grid_dim: (0, 0, 0),
            block_dim: (0, 0, 0),
            shared_mem_bytes: 0,
        },
        purpose,
    };
    subject.product(case.single(), &|shape, _| {
        let blas = blas.clone();
        Box::new(move |operands| {
            let (a, b, c) = (
                operands.a,
                operands.b.expect("a product has two inputs"),
                operands.c,
            );
            multiply(&blas, Product { shape, a, b, c })
                .map_err(|CublasError(status)| Trouble::CouldNot(format!("cuBLAS reports {status:?}")))
        })
    })
}

/// What the device cannot launch.
pub(crate) fn too_large(gpu: &Gpu, config: LaunchConfig) -> Option<String> {
    let (x, y, z) = config.grid_dim;
    let max = gpu.about.max_grid;
    if [x, y, z].iter().zip(max).any(|(n, max)| *n > max) {
        return Some(format!(
            "needs a grid of {x} x {y} x {z} blocks; the device's largest is {} x {} x {}",
            max[0], max[1], max[2]
        ));
    }
    let (needed, there) = (config.shared_mem_bytes as usize, gpu.about.shared_per_block);
    (needed > there).then(|| {
        format!("does not fit in shared memory: a block needs {needed} bytes, the device gives it {there}")
    })
}

/// A kernel about to be measured.
struct Subject<'a> {
    gpu: &'a Gpu,
    kernel: &'a Kernel,
    work: Work,
    config: LaunchConfig,
    purpose: Purpose,
}

/// Makes a launch for a shape.
type Make<'a, 'g, T> = &'a dyn Fn(Shape, LaunchConfig) -> Launch<'g, T>;

/// Inputs as the kernel takes them, with their answer.
struct Trial<'p, T: Real, A> {
    a: Cow<'p, [T]>,
    b: Option<Cow<'p, [T]>>,
    answer: &'p A,
}

impl<'a> Subject<'a> {
    fn product<T: Element>(
        &self,
        problems: &[Problem<T>; 2],
        make: Make<'_, 'a, T>,
    ) -> Result<Measured, Trouble> {
        let trials = problems.each_ref().map(|problem| {
            let (a, b) = stored(problem, self.work);
            Trial {
                a,
                b: Some(b),
                answer: problem,
            }
        });
        let [integers, reals] = problems;
        debug_assert!(integers.data == Data::Integers && reals.data == Data::Reals);
        self.device(reals.shape, &trials, make, reals.cpu_ms)
    }

    fn transpose(&self, case: &Case, make: Make<'_, 'a, f32>) -> Result<Measured, Trouble> {
        let matrix = case.matrix();
        let trial = Trial {
            a: Cow::Borrowed(matrix.elements.as_slice()),
            b: None,
            answer: matrix,
        };
        self.device(case.shape, &[trial], make, matrix.cpu_ms)
    }

    /// Verifies on every trial, then times on the last.
    fn device<T: Element, A: Answer>(
        &self,
        shape: Shape,
        trials: &[Trial<'_, T, A>],
        make: Make<'_, 'a, T>,
        cpu_ms: f64,
    ) -> Result<Measured, Trouble> {
        let gpu = self.gpu;
        if gpu.emulator.is_none()
            && let Some(why) = self.too_slow(shape, make)?
        {
            return Ok(not_run(why));
        }
        let mut accuracy = Accuracy {
            max_abs_error: 0.0,
            max_of_bound: 0.0,
            exact_on_integers: true,
        };
        let mut one_ms = 0.0;
        for (number, trial) in trials.iter().enumerate() {
            let is_last = number + 1 == trials.len();
            self.watch(is_last);
            let n_out = trial.answer.rows() * trial.answer.cols();
            let launch = make(shape, self.config);
            let mut session = Session::new(gpu, launch, &trial.a, trial.b.as_deref(), n_out)?;
            let start = Instant::now();
            let got = match session.run() {
                Ok(got) => got,
                Err(trouble) => return Ok(self.broken(trouble)),
            };
            one_ms = start.elapsed().as_secs_f64() * 1e3;
            let comparison = verify::compare(trial.answer, &got);
            if !comparison.is_right() {
                return Ok(Measured {
                    outcome: Outcome::Failed {
                        why: format!("{} of {} elements are wrong", comparison.n_wrong, got.len()),
                        details: format!("{comparison:?}"),
                    },
                    report: self.report(),
                    lost: false,
                });
            }
            accuracy.max_abs_error = accuracy.max_abs_error.max(comparison.max_abs_error);
            accuracy.max_of_bound = accuracy.max_of_bound.max(comparison.max_of_bound);
        }
        let report = self.report();
        let mut passed = self.passed(accuracy, cpu_ms);
        passed.counters = report.as_ref().and_then(|r| r["total"].as_object().cloned());
        if gpu.emulator.is_none() && self.purpose == Purpose::Bench {
            // There is a last trial: kernels were verified on it.
            if let Some(trial) = trials.last() {
                self.time(shape, trial, make, one_ms, &mut passed)?;
            }
        }
        Ok(Measured {
            outcome: Outcome::Passed(Box::new(passed)),
            report,
            lost: false,
        })
    }

    /// How closely the emulated device looks at the next launch.
    fn watch(&self, counts: bool) {
        use nvcuda::Checks;
        let Some(emulator) = self.gpu.emulator else { return };
        emulator.set_diagnosis(Some(false));
        emulator.set_checks(Some(match (self.purpose, counts) {
            (Purpose::Check, _) => Checks::GlobalRaces,
            (Purpose::Bench, true) => Checks::Counted,
            (Purpose::Bench, false) => Checks::On,
        }));
    }

    fn report(&self) -> Option<Value> {
        serde_json::from_str(&self.gpu.emulator?.report()?).ok()
    }

    /// A launch that was refused, or a kernel that went wrong.
    fn broken(&self, trouble: Trouble) -> Measured {
        let report = self.report();
        let findings: Vec<&Value> = report
            .iter()
            .flat_map(|r| r["findings"].as_array())
            .flatten()
            .collect();
        let told = |field: &str| {
            findings
                .iter()
                .filter_map(|f| f[field].as_str())
                .collect::<Vec<_>>()
        };
        let why = match (told("title").first(), &trouble) {
            (Some(title), _) => (*title).to_owned(),
            (None, Trouble::Driver(error)) => format!("the driver reports {}", words(*error)),
            (None, other) => other.to_string(),
        };
        let details = told("text").join("\n");
        Measured {
            outcome: Outcome::Failed { why, details },
            report,
            lost: true,
        }
    }

    fn passed(&self, accuracy: Accuracy, cpu_ms: f64) -> Passed {
        let (grid, block) = (self.config.grid_dim, self.config.block_dim);
        Passed {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared: self.config.shared_mem_bytes,
            accuracy,
            batch: 1,
            hot: None,
            cold: None,
            whole: None,
            cpu_ms: Some(cpu_ms),
            yardstick: None,
            clock_mhz: None,
            counters: None,
        }
    }

    /// Tries a smaller problem first where this one could take minutes.
    fn too_slow<T: Real>(&self, shape: Shape, make: Make<'_, 'a, T>) -> Result<Option<String>, Trouble> {
        const PROBE: usize = 1024;
        let small = Shape {
            m: shape.m.min(PROBE),
            n: shape.n.min(PROBE),
            k: shape.k.min(PROBE),
        };
        let volume = |s: Shape| s.m as f64 * s.n as f64 * s.k.max(1) as f64;
        let Some(config) = self.kernel.config(small).filter(|_| small != shape) else {
            return Ok(None);
        };
        let a = vec![T::default(); small.m * small.k.max(1).max(if small.k == 0 { small.n } else { 1 })];
        let b = (small.k > 0).then(|| vec![T::default(); small.k * small.n]);
        let mut session = Session::new(self.gpu, make(small, config), &a, b.as_deref(), small.m * small.n)?;
        let mut took = session.time_ms(1)?;
        if took < timing::TOO_SLOW_MS / 100.0 {
            took = session.time_ms(1)?;
        }
        let expected = took * volume(shape) / volume(small);
        Ok((expected > timing::TOO_SLOW_MS).then(|| {
            format!(
                "too slow: {small} takes {took:.0} ms, so {shape} would take about {:.0} s",
                expected / 1e3
            )
        }))
    }

    /// cuBLAS on the same inputs, where it is there and right.
    fn cublas<T: Element, A: Answer>(
        &self,
        shape: Shape,
        trial: &Trial<'_, T, A>,
    ) -> Result<Option<timing::Other<'a>>, Trouble> {
        let (Ok(cublas), Some(b)) = (self.gpu.cublas(), &trial.b) else {
            return Ok(None);
        };
        let (other, got) = cublas::yardstick(self.gpu, cublas, (self.work, shape), &trial.a, b)?;
        let comparison = verify::compare(trial.answer, &got);
        if !comparison.is_right() {
            eprintln!(
                "cuBLAS's own product of {shape} is outside of the FP32 bound in {} elements; no comparison with it \
                 (do NVIDIA_TF32_OVERRIDE or CUBLAS_… variables make it less exact?)",
                comparison.n_wrong
            );
            return Ok(None);
        }
        Ok(Some(other))
    }

    fn time<T: Element, A: Answer>(
        &self,
        shape: Shape,
        trial: &Trial<'_, T, A>,
        make: Make<'_, 'a, T>,
        one_ms: f64,
        passed: &mut Passed,
    ) -> Result<(), Trouble> {
        let n_out = trial.answer.rows() * trial.answer.cols();
        let launch = make(shape, self.config);
        let mut session = Session::new(self.gpu, launch, &trial.a, trial.b.as_deref(), n_out)?;
        let other = match self.work {
            Work::Transpose => Some(timing::copy::<T>(self.gpu, n_out)?),
            _ => self.cublas(shape, trial)?,
        };
        let timed = timing::time(self.gpu, &mut session, other, one_ms)?;
        drop(session);
        passed.batch = timed.batch;
        passed.hot = Some(timed.hot);
        passed.cold = timed.cold;
        passed.yardstick = timed.yardstick;
        passed.clock_mhz = timed.clock_mhz;
        let launch = make(shape, self.config);
        passed.whole = Some(timing::whole(
            self.gpu,
            &launch,
            &trial.a,
            trial.b.as_deref(),
            n_out,
        )?);
        Ok(())
    }
}

/// An answer with a bound of its own for every element.
struct OtherBound<'p> {
    problem: &'p Problem<f32>,
    bound: Option<f64>,
}

impl Answer for OtherBound<'_> {
    fn rows(&self) -> usize {
        self.problem.rows()
    }
    fn cols(&self) -> usize {
        self.problem.cols()
    }
    fn want(&self, row: usize, col: usize) -> f64 {
        self.problem.want(row, col)
    }
    fn bound(&self, row: usize, col: usize) -> f64 {
        // Reals lie in [-1, 1), so no element is larger than 1.
        self.bound.unwrap_or_else(|| self.problem.bound(row, col))
    }
}

/// A Rust function: the same verification, and the host's clock.
fn cpu(
    kernel: &Kernel,
    multiply: Multiply,
    largest: f64,
    bound: Option<ElementBound>,
    case: &Case,
) -> Measured {
    let Shape { m, n, k } = case.shape;
    if m as f64 * n as f64 * k as f64 > largest {
        return not_run(format!(
            "too slow: {} is timed up to {:.0} cubed",
            kernel.name,
            largest.cbrt()
        ));
    }
    let mut accuracy = Accuracy {
        max_abs_error: 0.0,
        max_of_bound: 0.0,
        exact_on_integers: true,
    };
    let mut c = vec![f32::POISON; m * n];
    for problem in case.single() {
        c.fill(f32::POISON);
        multiply(case.shape, &problem.a, &problem.b, &mut c);
        let answer = OtherBound {
            problem,
            bound: bound
                .filter(|_| problem.data == Data::Reals)
                .map(|bound| bound(case.shape, 1.0, 1.0)),
        };
        let comparison = verify::compare(&answer, &c);
        if !comparison.is_right() {
            return Outcome::Failed {
                why: format!("{} of {} elements are wrong", comparison.n_wrong, c.len()),
                details: format!("{comparison:?}"),
            }
            .into();
        }
        accuracy.max_abs_error = accuracy.max_abs_error.max(comparison.max_abs_error);
        accuracy.max_of_bound = accuracy.max_of_bound.max(comparison.max_of_bound);
    }
    let [_, reals] = case.single();
    let hot = timing::by_the_clock(|| multiply(case.shape, &reals.a, &reals.b, &mut c));
    Outcome::Passed(Box::new(Passed {
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        accuracy,
        batch: 1,
        hot: Some(hot),
        cold: None,
        whole: None,
        cpu_ms: Some(reals.cpu_ms),
        yardstick: None,
        clock_mhz: None,
        counters: None,
    }))
    .into()
}
