//! The SM clock while something is timed, from NVML: it distinguishes a slow kernel from a slow clock.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};

use cudarc::driver::{CudaContext, sys};
use libloading::Library;

/// A device of NVML.
pub(crate) struct Clocks {
    library: Library,
    device: *mut c_void,
}

const OK: c_int = 0;
const CLOCK_SM: c_int = 1;
/// `0000:1b:00.0` and the end.
const BUS_ID_LENGTH: usize = 32;

impl Clocks {
    /// Returns the NVML device of a context; `None` without NVML, or if NVML does not list the device.
    pub(crate) fn open(context: &CudaContext) -> Option<Self> {
        let mut bus_id = [0 as c_char; BUS_ID_LENGTH];
        // SAFETY: the buffer has the length that is passed.
        let code =
            unsafe { sys::cuDeviceGetPCIBusId(bus_id.as_mut_ptr(), BUS_ID_LENGTH as c_int, context.cu_device()) };
        code.result().ok()?;
        let end = bus_id.iter().position(|c| *c == 0)?;
        let bus_id = CString::new(bus_id[..end].iter().map(|c| *c as u8).collect::<Vec<_>>()).ok()?;
        // SAFETY: NVML's initialisers do nothing; the functions have the types that nvml.h gives them.
        unsafe {
            let library = Library::new("libnvidia-ml.so.1").ok()?;
            let init = library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2\0").ok()?;
            (init() == OK).then_some(())?;
            let mut device = std::ptr::null_mut();
            let find = library
                .get::<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int>(
                    b"nvmlDeviceGetHandleByPciBusId_v2\0",
                )
                .ok()?;
            (find(bus_id.as_ptr(), &mut device) == OK).then_some(())?;
            Some(Self { library, device })
        }
    }

    /// Returns the current clock of the multiprocessors in MHz; `None` if NVML does not give it.
    pub(crate) fn sm_mhz(&self) -> Option<u32> {
        let mut mhz: c_uint = 0;
        // SAFETY: the function has the type that nvml.h gives it, and the device is one that NVML gave us.
        unsafe {
            let clock = self
                .library
                .get::<unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> c_int>(b"nvmlDeviceGetClockInfo\0")
                .ok()?;
            (clock(self.device, CLOCK_SM, &mut mhz) == OK).then_some(mhz)
        }
    }
}
