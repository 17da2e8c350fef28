//! Measures one kernel on one shape, by its kind.

pub(crate) mod case;
pub(crate) mod host;
pub(crate) mod machine;
pub(crate) mod setup;
pub(crate) mod subject;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use catalog::{Shape, Work};
use cudarc::cublas::{CudaBlas, result::CublasError};
use cudarc::driver::{CudaFunction, CudaModule, DriverError, LaunchConfig};

use crate::device::Gpu;
use crate::device::cublas;
use crate::device::session::{Launch, Operands};
use crate::kernel::{
    Gemm, Kernel, KernelSource, LaunchGemm, LaunchKind, LaunchTranspose, MultiplyCublas, MultiplyLibrary, Product,
    Transpose, match_launch, match_library,
};
use crate::measure::case::Case;
use crate::measure::machine::{Functions, Loaded, LoadedMachineCode};
use crate::measure::setup::{KernelOutcome, Setup};
use crate::{error::StepError, inputs::Real};
use crate::{measure::subject::Subject, shapes};

pub(crate) fn measure(setup: Setup<'_>, kernel: &Kernel, work: Work, case: &Case) -> Result<KernelOutcome, StepError> {
    let gpu = setup.gpu;
    if let Err(why) = shapes::check_fits(work, case.shape, gpu) {
        return Ok(KernelOutcome::not_run(why.to_string()));
    }
    if let Some(why) = cannot_run(gpu, kernel, case.shape, setup.ptx) {
        return Ok(KernelOutcome::not_run(why));
    }
    // A library decides for itself how it is launched.
    let config = kernel.launch_config(case.shape, gpu.info.n_sms).unwrap_or(LaunchConfig {
        grid_dim: (0, 0, 0),
        block_dim: (0, 0, 0),
        shared_mem_bytes: 0,
    });
    if let Some(why) = too_large(gpu, config) {
        return Ok(KernelOutcome::not_run(why));
    }
    let functions = |code: KernelSource| -> Result<Functions, StepError> {
        Ok(Functions {
            ptx: machine::load(gpu, kernel, code, setup.ptx, case.shape)?,
            machine: LoadedMachineCode::load(&setup, kernel),
        })
    };
    let subject = |machine| Subject { setup, kernel, work, config, machine };
    match kernel.kind {
        LaunchKind::Device { code, launch, .. } => {
            let functions = functions(code)?;
            let subject = subject(functions.machine.as_ref());
            match_launch!(
                launch,
                launch => subject.product(case.problems(), &|which, shape, config| {
                    gemm(gpu, functions.loaded(which), launch, shape, config)
                }),
                launch => subject.transpose(case, &|which, shape, config| {
                    transpose(gpu, functions.loaded(which).kernel, launch, shape, config)
                }),
            )
        }
        LaunchKind::Cublas { open, multiply } => {
            if let Err(why) = cublas::provide() {
                return Ok(KernelOutcome::not_run(why));
            }
            let mut workspace = match cublas::workspace(&gpu.stream) {
                Ok(workspace) => workspace,
                Err(why) => return Ok(KernelOutcome::not_run(why)),
            };
            let opened = open(gpu.stream.clone()).and_then(|blas| {
                // SAFETY: the handle was just made for this stream, and goes before the memory.
                unsafe { cublas::set_workspace(*blas.handle(), &gpu.stream, &mut workspace) }?;
                Ok(blas)
            });
            match opened {
                Ok(blas) => subject(None).product(case.problems(), &|_, shape, _| library(&blas, multiply, shape)),
                Err(error) => Ok(KernelOutcome::not_run(cublas::does_not_start(error))),
            }
        }
        LaunchKind::Library { open } => match_library!(open, open => match open(&gpu.stream, &load_once(gpu)) {
            Ok(multiply) => subject(None).product(case.problems(), &|_, shape, _| own_library(&multiply, shape)),
            Err(why) => Ok(KernelOutcome::not_run(why.to_string())),
        }),
        LaunchKind::Cpu(cpu) => Ok(host::measure(kernel, cpu, case, setup.purpose)),
    }
}

/// Returns what the shape or the device lacks for the kernel, or for other PTX in its place.
pub(crate) fn cannot_run(gpu: &Gpu, kernel: &Kernel, shape: Shape, other: Option<&str>) -> Option<String> {
    if let Some(lacks) = kernel.requirement.and_then(|requirement| requirement(shape)) {
        return Some(lacks.into());
    }
    let ptx = other.or(kernel.code().map(|code| code.ptx))?;
    needs_capability(ptx, &gpu.info.capability)
}

/// Returns the compute capability that PTX requires, where the device has another. `sm_90` runs on what is newer;
/// `sm_90a` does not.
fn needs_capability(ptx: &str, there: &str) -> Option<String> {
    let target = ptx.lines().find_map(|line| line.trim().strip_prefix(".target sm_"))?;
    let digits = target.split(|c: char| !c.is_ascii_digit()).next()?;
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let number = |major: &str, minor: &str| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?));
    let (needed, have) = (number(major, minor)?, there.split_once('.').and_then(|(a, b)| number(a, b))?);
    let runs = if target[digits.len()..].starts_with('a') { have == needed } else { have >= needed };
    (!runs).then(|| format!("needs compute capability {major}.{minor}; this device has {there}"))
}

/// Returns the reason if the device cannot launch this configuration.
pub(crate) fn too_large(gpu: &Gpu, config: LaunchConfig) -> Option<String> {
    let (x, y, z) = config.grid_dim;
    let max = gpu.info.max_grid;
    if [x, y, z].iter().zip(max).any(|(n, max)| *n > max) {
        return Some(format!(
            "needs a grid of {x} x {y} x {z} blocks; the device's largest is {} x {} x {}",
            max[0], max[1], max[2]
        ));
    }
    let (needed, there) = (config.shared_mem_bytes as usize, gpu.info.shared_per_block);
    (needed > there).then(|| {
        format!("does not fit in shared memory: a block needs {needed} bytes, and the device gives it {there}")
    })
}

/// Wraps a step's launch in the form that sessions take.
pub(crate) fn gemm<'g, T: Real, R: Real>(
    gpu: &'g Gpu, loaded: Loaded, launch: LaunchGemm<T, R>, shape: Shape, config: LaunchConfig,
) -> Launch<'g, T, R> {
    Box::new(move |operands| {
        let gemm = Gemm {
            stream: &gpu.stream,
            kernel: &loaded.kernel,
            preparation: loaded.preparation.as_deref(),
            config,
            shape,
            a: operands.a,
            b: operands.b.expect("a product has two inputs"),
            c: operands.c,
        };
        Ok(launch(gemm)?)
    })
}

/// Wraps a step's launch of a transpose in the form that sessions take.
pub(crate) fn transpose(
    gpu: &Gpu, kernel: CudaFunction, launch: LaunchTranspose, shape: Shape, config: LaunchConfig,
) -> Launch<'_, f32> {
    Box::new(move |operands| {
        let transpose =
            Transpose { stream: &gpu.stream, kernel: &kernel, config, shape, input: operands.a, output: operands.c };
        Ok(launch(transpose)?)
    })
}

fn product<T: Real, R: Real>(shape: Shape, operands: Operands<'_, T, R>) -> Product<'_, T, R> {
    Product { shape, a: operands.a, b: operands.b.expect("a product has two inputs"), c: operands.c }
}

/// Returns a function for libraries that loads each kernel file once on the device.
pub(crate) fn load_once(gpu: &Gpu) -> impl Fn(&KernelSource) -> Result<Arc<CudaModule>, DriverError> {
    |code| gpu.module(code.image(), || code.load(&gpu.context))
}

pub(crate) fn own_library<T: Real, R: Real>(multiply: &MultiplyLibrary<T, R>, shape: Shape) -> Launch<'_, T, R> {
    Box::new(move |operands| multiply(product(shape, operands)).map_err(|error| StepError::CouldNot(error.to_string())))
}

/// Returns a step's call of cuBLAS.
fn library<'b>(blas: &'b CudaBlas, multiply: MultiplyCublas, shape: Shape) -> Launch<'b, f32> {
    Box::new(move |operands| {
        multiply(blas, product(shape, operands))
            .map_err(|CublasError(status)| StepError::CouldNot(format!("cuBLAS reports {status:?}")))
    })
}
