//! A kernel that is not one of the ladder's, launched once on the machine's own GPU.

#[cfg(test)]
mod tests;

pub use cudarc::driver::LaunchConfig as Config;
use cudarc::driver::{CudaContext, CudaFunction, PushKernelArg};

use crate::device::{DeviceChoice, Gpu, nvidia_library};
use crate::error::{StepError, describe};
use crate::inputs::Real;
use reference::Argument;

impl Gpu {
    /// Opens the machine's GPU, and never the emulated one.
    pub fn real() -> Result<Self, StepError> {
        let none = |why: &str| Err(StepError::CouldNot(why.to_owned()));
        if DeviceChoice::from_environment()? == DeviceChoice::Emulated {
            return none("TILE_DEVICE=emulated asks for the emulated one");
        }
        if !nvidia_library() {
            return none("this machine has no CUDA driver (libcuda.so.1)");
        }
        check_is_real(emulator_client::find())?;
        match CudaContext::device_count() {
            Ok(0) => none("the CUDA driver of this machine has no device"),
            Ok(_) => Self::open(),
            Err(error) => none(&format!("the CUDA driver does not start: {}", describe(error))),
        }
    }
}

/// Fails unless the driver is NVIDIA's: the emulated one has functions of its own.
fn check_is_real(emulator: Option<emulator_client::Emulator>) -> Result<(), StepError> {
    let why = "the CUDA driver of this machine is the emulated GPU";
    emulator.map_or(Ok(()), |_| Err(StepError::CouldNot(why.into())))
}

/// Copies the inputs and the output, whose number follows theirs, to the device, launches once, waits, and copies the
/// output back. The arguments have as many bytes as the kernel's parameters: the caller has compared them.
///
/// # Errors
/// Returns an error if the launch is refused or the kernel goes wrong; the context is of no use then.
pub fn run<T: Real>(
    gpu: &Gpu, kernel: &CudaFunction, config: Config, inputs: &[Vec<u8>], output: &[T], arguments: &[Argument],
) -> Result<Vec<T>, StepError> {
    let inputs = inputs.iter().map(|bytes| gpu.stream.clone_htod(bytes)).collect::<Result<Vec<_>, _>>()?;
    let output = gpu.stream.clone_htod(output)?;
    let mut launch = gpu.stream.launch_builder(kernel);
    for argument in arguments {
        match argument {
            Argument::Int(value) => launch.arg(value),
            Argument::Float(value) => launch.arg(value),
            Argument::Buffer(at) => match inputs.get(*at) {
                Some(input) => launch.arg(input),
                None => launch.arg(&output),
            },
        };
    }
    // SAFETY: the arguments fit the parameters, as the caller says. What the kernel does with the memory of the device
    // is nothing that this process holds: a wrong access ends the context, and the process has nothing else in it.
    unsafe { launch.launch(config) }?;
    gpu.stream.synchronize()?;
    Ok(gpu.stream.clone_dtoh(&output)?)
}
