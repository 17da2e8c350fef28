//! Launches that overlap: programmatic dependent launch, for which cudarc has no function.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUlaunchAttributeID};
use cudarc::driver::{CudaFunction, CudaStream, DeviceRepr, DriverError, LaunchConfig};

/// Returns an argument in the form that [`launch`] takes. The driver copies it during the launch.
pub fn argument<T: DeviceRepr>(value: &T) -> *mut c_void {
    (&raw const *value).cast_mut().cast()
}

// ANCHOR: launch
/// Launches a kernel that may begin as soon as all blocks of the launch before it in the stream allow it
/// (`griddepcontrol.launch_dependents`), or have ended.
///
/// # Safety
/// The arguments must be what the kernel takes. The kernel must wait (`griddepcontrol.wait`) before it touches memory
/// that earlier launches use.
pub unsafe fn launch(
    stream: &CudaStream, kernel: &CudaFunction, config: LaunchConfig, arguments: &mut [*mut c_void],
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    let mut attribute = sys::CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: Default::default(),
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    };
    let LaunchConfig { grid_dim, block_dim, shared_mem_bytes } = config;
    let config = sys::CUlaunchConfig {
        gridDimX: grid_dim.0,
        gridDimY: grid_dim.1,
        gridDimZ: grid_dim.2,
        blockDimX: block_dim.0,
        blockDimY: block_dim.1,
        blockDimZ: block_dim.2,
        sharedMemBytes: shared_mem_bytes,
        hStream: stream.cu_stream(),
        attrs: &raw mut attribute,
        numAttrs: 1,
    };
    // SAFETY: the caller promises the arguments; the configuration and its attribute live until the call returns.
    unsafe { sys::cuLaunchKernelEx(&raw const config, kernel.cu_function(), arguments.as_mut_ptr(), null_mut()) }
        .result()
}
// ANCHOR_END: launch
