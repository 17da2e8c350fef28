//! One kernel on one shape: what there is to run, and what came out.

use catalog::{Shape, Work};
use cudarc::cublas::CudaBlas;
use cudarc::cublas::result::CublasError;
use cudarc::driver::{CudaFunction, LaunchConfig};
use records::Outcome;
use serde_json::Value;

use crate::case::Case;
use crate::cublas;
use crate::device::Gpu;
use crate::duel::Plan;
use crate::inputs::Real;
use crate::kernel::{
    Code, Gemm, Kernel, LaunchGemm, LaunchTranspose, MultiplyCublas, MultiplyOwn, Product, Program,
    Transpose, match_launch,
};
use crate::machine::{Cubins, Functions, Loaded, Machine};
use crate::session::Launch;
use crate::subject::Subject;
use crate::trouble::Trouble;
use crate::{host, machine, shapes};

/// How a kernel is measured.
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
    /// Result and times, as a record keeps them.
    pub outcome: Outcome,
    /// Report of the emulated device: counters per source line, findings.
    pub report: Option<Value>,
    /// Whether a kernel broke the context: the next kernel needs another one.
    pub lost: bool,
}

impl Measured {
    /// It was not tried.
    pub fn not_run(why: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::NotRun { why: why.into() },
            report: None,
            lost: false,
        }
    }
}

/// What a measurement is made with.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'g> {
    /// The device to measure on.
    pub gpu: &'g Gpu,
    /// How kernels are measured.
    pub purpose: Purpose,
    /// Is run in place of the kernel's own.
    pub ptx: Option<&'g str>,
    /// Machine code, the same.
    pub cubins: &'g Cubins,
    /// Kernel and yardstick run in turns too.
    pub duel: Option<Plan>,
}

/// Verifies and measures.
///
/// # Errors
/// When something fails that is not the kernel's fault.
pub fn measure(bench: Bench<'_>, kernel: &Kernel, work: Work, case: &Case) -> Result<Measured, Trouble> {
    let gpu = bench.gpu;
    if let Err(why) = shapes::fits(work, case.shape, gpu) {
        return Ok(Measured::not_run(why));
    }
    if let Some(why) = cannot_run(gpu, kernel, case.shape, bench.ptx) {
        return Ok(Measured::not_run(why));
    }
    // What a kernel is launched with; a library decides that for itself.
    let config = kernel
        .launch_config(case.shape, gpu.about.n_sms)
        .unwrap_or(LaunchConfig {
            grid_dim: (0, 0, 0),
            block_dim: (0, 0, 0),
            shared_mem_bytes: 0,
        });
    if let Some(why) = too_large(gpu, config) {
        return Ok(Measured::not_run(why));
    }
    let functions = |code: Code| -> Result<Functions, Trouble> {
        Ok(Functions {
            ptx: machine::load(gpu, kernel, code, bench.ptx, case.shape)?,
            machine: Machine::load(&bench, kernel),
        })
    };
    let subject = |machine| Subject {
        bench,
        kernel,
        work,
        config,
        machine,
    };
    match kernel.program {
        Program::Device { code, launch, .. } => {
            let functions = functions(code)?;
            let subject = subject(functions.machine.as_ref());
            match_launch!(
                launch,
                launch => subject.product(case.problems(), &|which, shape, config| {
                    gemm(gpu, functions.of(which), launch, shape, config)
                }),
                launch => subject.transpose(case, &|which, shape, config| {
                    transpose(gpu, functions.of(which).kernel, launch, shape, config)
                }),
            )
        }
        Program::Cublas { open, multiply } => {
            if let Err(why) = cublas::provide(gpu) {
                return Ok(Measured::not_run(why));
            }
            let mut workspace = match cublas::workspace(gpu) {
                Ok(workspace) => workspace,
                Err(why) => return Ok(Measured::not_run(why)),
            };
            let opened = open(gpu.stream.clone()).and_then(|blas| {
                // SAFETY: the handle was just made for this stream, and goes before the memory.
                unsafe { cublas::set_workspace(*blas.handle(), &gpu.stream, &mut workspace) }?;
                Ok(blas)
            });
            match opened {
                Ok(blas) => {
                    subject(None).product(case.problems(), &|_, shape, _| library(&blas, multiply, shape))
                }
                Err(CublasError(status)) => {
                    Ok(Measured::not_run(format!("cuBLAS does not start: {status:?}")))
                }
            }
        }
        Program::Own { open } => match open(&gpu.stream) {
            Ok(multiply) => subject(None).product(case.problems(), &|_, shape, _| own(&multiply, shape)),
            Err(why) => Ok(Measured::not_run(why)),
        },
        Program::Cpu(cpu) => Ok(host::measure(kernel, cpu, case, bench.purpose)),
    }
}

/// What the shape or the device lacks for the kernel, or for other PTX in its place.
pub(crate) fn cannot_run(gpu: &Gpu, kernel: &Kernel, shape: Shape, other: Option<&str>) -> Option<String> {
    if let Some(lacks) = kernel.needs.and_then(|needs| needs(shape)) {
        return Some(lacks.into());
    }
    let ptx = other.or(kernel.code().map(|code| code.ptx))?;
    needs_capability(ptx, &gpu.about.capability)
}

/// The compute capability that PTX asks for, where the device has another. `sm_90` runs on what is newer; `sm_90a` does
/// not.
fn needs_capability(ptx: &str, there: &str) -> Option<String> {
    let target = ptx
        .lines()
        .find_map(|line| line.trim().strip_prefix(".target sm_"))?;
    let digits = target.split(|c: char| !c.is_ascii_digit()).next()?;
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let number = |major: &str, minor: &str| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?));
    let (needed, have) = (
        number(major, minor)?,
        there.split_once('.').and_then(|(a, b)| number(a, b))?,
    );
    let runs = match target[digits.len()..].starts_with('a') {
        true => have == needed,
        false => have >= needed,
    };
    (!runs).then(|| format!("needs compute capability {major}.{minor}; this device has {there}"))
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
        format!(
            "does not fit in shared memory: a block needs {needed} bytes, and the device gives it {there}"
        )
    })
}

/// A step's launch, as sessions want it.
pub(crate) fn gemm<'g, T: Real, R: Real>(
    gpu: &'g Gpu,
    loaded: Loaded,
    launch: LaunchGemm<T, R>,
    shape: Shape,
    config: LaunchConfig,
) -> Launch<'g, T, R> {
    Box::new(move |operands| {
        let gemm = Gemm {
            stream: &gpu.stream,
            kernel: &loaded.kernel,
            first: loaded.first.as_deref(),
            config,
            shape,
            a: operands.a,
            b: operands.b.expect("a product has two inputs"),
            c: operands.c,
        };
        Ok(launch(gemm)?)
    })
}

/// Measures a transpose.
pub(crate) fn transpose(
    gpu: &Gpu,
    kernel: CudaFunction,
    launch: LaunchTranspose,
    shape: Shape,
    config: LaunchConfig,
) -> Launch<'_, f32> {
    Box::new(move |operands| {
        let transpose = Transpose {
            stream: &gpu.stream,
            kernel: &kernel,
            config,
            shape,
            input: operands.a,
            output: operands.c,
        };
        Ok(launch(transpose)?)
    })
}

/// A call of a step's own library.
pub(crate) fn own(multiply: &MultiplyOwn, shape: Shape) -> Launch<'_, f32> {
    Box::new(move |operands| {
        let product = Product {
            shape,
            a: operands.a,
            b: operands.b.expect("a product has two inputs"),
            c: operands.c,
        };
        multiply(product).map_err(Trouble::CouldNot)
    })
}

/// A step's call of cuBLAS.
fn library<'b>(blas: &'b CudaBlas, multiply: MultiplyCublas, shape: Shape) -> Launch<'b, f32> {
    Box::new(move |operands| {
        let product = Product {
            shape,
            a: operands.a,
            b: operands.b.expect("a product has two inputs"),
            c: operands.c,
        };
        multiply(blas, product)
            .map_err(|CublasError(status)| Trouble::CouldNot(format!("cuBLAS reports {status:?}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, there: &str, runs: bool) {
        let ptx = format!(".version 8.4\n.target {target}\n.address_size 64\n");
        assert_eq!(
            needs_capability(&ptx, there).is_none(),
            runs,
            "{target} on {there}"
        );
    }

    #[test]
    fn code_for_one_device_runs_on_no_newer_one() {
        check("sm_80", "8.0", true);
        check("sm_80", "9.0", true);
        check("sm_80", "7.5", false);
        check("sm_90a", "9.0", true);
        check("sm_90a", "10.0", false);
        check("sm_90a, debug", "8.9", false);
        check("sm_103", "10.0", false);
        check("sm_103", "12.0", true);
    }
}
