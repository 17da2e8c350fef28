//! A kernel's machine code on the emulated device: its counters, and the time that a real GPU would take.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use catalog::Shape;
use catalog::provenance::{cubin_hash, sha256};
use cudarc::driver::CudaFunction;
use records::machine_code::PredictedLaunch;

use crate::device::{Gpu, session};
use crate::error::StepError;
use crate::kernel::{Kernel, KernelSource, Prepared};
use crate::measure::setup::{Purpose, Setup};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    Ptx,
    MachineCode,
    /// The machine code before the kernel was edited.
    Before,
}

/// A kernel as the driver loaded it, and the kernel that is launched before it.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) kernel: CudaFunction,
    pub(crate) preparation: Option<Arc<Prepared>>,
}

/// A kernel in all kinds of code.
#[derive(Debug)]
pub(crate) struct Functions {
    pub(crate) ptx: Loaded,
    /// The kernel as machine code; `None` where only the PTX runs.
    pub(crate) machine: Option<LoadedMachineCode>,
}

#[derive(Debug)]
pub(crate) struct LoadedMachineCode {
    pub(crate) sha256: String,
    /// The loaded function, or the reason why the driver does not run it.
    pub(crate) function: Result<CudaFunction, String>,
    /// The kernel before an edit, for comparison.
    pub(crate) before: Option<CudaFunction>,
}

impl Functions {
    /// Returns the kernel in one kind of code; its PTX where it has no code of that kind.
    pub(crate) fn loaded(&self, which: CodeKind) -> Loaded {
        let machine = self.machine.as_ref();
        let found = match which {
            CodeKind::Ptx => None,
            CodeKind::MachineCode => machine.and_then(|machine| machine.function.as_ref().ok()),
            CodeKind::Before => machine.and_then(|machine| machine.before.as_ref()),
        };
        Loaded { kernel: found.unwrap_or(&self.ptx.kernel).clone(), preparation: self.ptx.preparation.clone() }
    }
}

impl LoadedMachineCode {
    /// Loads the running PTX's machine code, if any, on the emulated device, for [`Purpose::Bench`].
    pub(crate) fn load(setup: &Setup<'_>, kernel: &Kernel) -> Option<Self> {
        let Setup { gpu, cubins, .. } = setup;
        if gpu.emulator.is_none() || setup.purpose != Purpose::Bench {
            return None;
        }
        let cubin = match (&cubins.own, setup.ptx) {
            (Some(own), _) => own.as_slice(),
            (None, Some(_)) => return None,
            (None, None) => committed(kernel)?,
        };
        let load = |cubin| session::load_cubin(gpu, cubin, kernel.name);
        let before = cubins.before.iter().filter(|_| !kernel.is_rust).find(|cubin| has(cubin, kernel.name));
        Some(Self { sha256: sha256(cubin), function: load(cubin), before: before.and_then(|cubin| load(cubin).ok()) })
    }
}

/// Returns the kernel as this device runs it: its PTX or other PTX, or its machine code on a GPU that has it, where the
/// kernel is compiled ahead of time. The kernel that prepares it gets memory for products up to this shape.
pub(crate) fn load(
    gpu: &Gpu, kernel: &Kernel, code: KernelSource, other: Option<&str>, shape: Shape,
) -> Result<Loaded, StepError> {
    let preparation = match kernel.preparation {
        Some(preparation) => Some(Arc::new(Prepared {
            kernel: session::load(gpu, other.unwrap_or(code.ptx), preparation.entry)?,
            // SAFETY: the kernel writes it before another one reads it; the emulated device checks that.
            memory: unsafe { gpu.stream.alloc((preparation.bytes)(shape)) }?,
        })),
        None => None,
    };
    let kernel = function(gpu, kernel, code, other)?;
    Ok(Loaded { kernel, preparation })
}

fn function(gpu: &Gpu, kernel: &Kernel, code: KernelSource, other: Option<&str>) -> Result<CudaFunction, StepError> {
    /// Capability that `kernels/cubin` is compiled for.
    const CAPABILITY: &str = "9.0";
    let is_here = kernel.uses_cubin && gpu.emulator.is_none() && gpu.info.capability == CAPABILITY;
    match committed(kernel).filter(|_| is_here && other.is_none()) {
        Some(cubin) => session::load_cubin(gpu, cubin, kernel.name).map_err(|why| {
            StepError::CouldNot(format!("the driver does not take the machine code of {}: {why}", kernel.name))
        }),
        None => session::load(gpu, other.unwrap_or(code.ptx), kernel.name),
    }
}

/// Returns the machine code that was made with the kernel's PTX.
pub(crate) fn committed(kernel: &Kernel) -> Option<&'static [u8]> {
    let code = kernel.code()?;
    (cubin_hash(code.ptx) == Some(sha256(code.cubin).as_str())).then_some(code.cubin)
}

/// Returns whether a cubin has a kernel: a section of code with its name.
fn has(cubin: &[u8], kernel: &str) -> bool {
    let name = format!(".text.{kernel}\0");
    cubin.windows(name.len()).any(|bytes| bytes == name.as_bytes())
}

pub(crate) fn no_prediction(why: impl Into<String>) -> PredictedLaunch {
    PredictedLaunch { no_prediction: Some(why.into()), ..PredictedLaunch::default() }
}
