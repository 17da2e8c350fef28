//! Clock, power and temperature of a device while something is timed, from NVML: they distinguish a slow kernel from a
//! slow clock.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};

use cudarc::driver::{CudaContext, sys};
use libloading::Library;
use records::record::{POWER_LIMIT, Power};

/// A device of NVML, if there is one, and what was read of it.
pub(crate) struct Meter {
    device: Option<Device>,
    mhz: Vec<c_uint>,
    seen: Vec<Reading>,
}

struct Device {
    library: Library,
    handle: *mut c_void,
}

struct Reading {
    milliwatts: c_uint,
    celsius: c_uint,
    /// Bits that nvml.h calls clocks event reasons.
    reasons: c_ulonglong,
}

const OK: c_int = 0;
const CLOCK_SM: c_int = 1;
const SENSOR_GPU: c_int = 0;
/// `0000:1b:00.0` and the end.
const BUS_ID_LENGTH: usize = 32;
/// Reasons for a clock below the highest, by their bits. An idle device and a clock that a user set are none of them.
const REASONS: [(c_ulonglong, &str); 3] = [(0x04, POWER_LIMIT), (0x60, "temperature"), (0x88, "hardware")];

impl Meter {
    /// Returns a meter of a context's device, which reads nothing without NVML, or if NVML does not list the device.
    pub(crate) fn open(context: &CudaContext) -> Self {
        Self { device: Device::open(context), mhz: Vec::new(), seen: Vec::new() }
    }

    pub(crate) fn read(&mut self) {
        let Some(device) = &self.device else { return };
        self.mhz.extend(device.clock());
        self.seen.extend(device.read());
    }

    /// Returns the energy in joules since the driver was loaded.
    pub(crate) fn joules(&self) -> Option<f64> {
        let device = self.device.as_ref()?;
        let mut millijoules: c_ulonglong = 0;
        // SAFETY: the function has the type that nvml.h gives it.
        unsafe { device.get(b"nvmlDeviceGetTotalEnergyConsumption\0", &mut millijoules) }?;
        Some(millijoules as f64 / 1e3)
    }

    /// Returns the lowest and the highest SM clock that was read.
    pub(crate) fn clock_mhz(&self) -> Option<[u32; 2]> {
        extent(self.mhz.iter().copied())
    }

    /// Returns the extent of power and temperature, and the limits that were met.
    pub(crate) fn power(&self) -> Option<Power> {
        let reasons = self.seen.iter().fold(0, |all, one| all | one.reasons);
        let met = REASONS.iter().filter(|(bits, _)| reasons & bits != 0).map(|(_, name)| (*name).to_owned());
        Some(Power {
            watts: extent(self.seen.iter().map(|one| one.milliwatts / 1000))?,
            celsius: extent(self.seen.iter().map(|one| one.celsius))?,
            limited_by: met.collect(),
        })
    }
}

/// Returns the least and the most; `None` without values.
fn extent(values: impl Iterator<Item = u32> + Clone) -> Option<[u32; 2]> {
    Some([values.clone().min()?, values.max()?])
}

impl Device {
    fn open(context: &CudaContext) -> Option<Self> {
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
            let mut handle = std::ptr::null_mut();
            let find = library
                .get::<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int>(
                    b"nvmlDeviceGetHandleByPciBusId_v2\0",
                )
                .ok()?;
            (find(bus_id.as_ptr(), &mut handle) == OK).then_some(())?;
            Some(Self { library, handle })
        }
    }

    /// Returns the present clock of the multiprocessors in MHz; `None` if NVML does not give it.
    fn clock(&self) -> Option<c_uint> {
        let mut mhz = 0;
        // SAFETY: the function has the type that nvml.h gives it.
        unsafe { self.get_of(b"nvmlDeviceGetClockInfo\0", CLOCK_SM, &mut mhz) }?;
        Some(mhz)
    }

    /// Returns the rest of the present state; `None` if NVML does not give all of it.
    fn read(&self) -> Option<Reading> {
        let mut reading = Reading { milliwatts: 0, celsius: 0, reasons: 0 };
        // SAFETY: the functions have the types that nvml.h gives them.
        unsafe {
            self.get(b"nvmlDeviceGetPowerUsage\0", &mut reading.milliwatts)?;
            self.get_of(b"nvmlDeviceGetTemperature\0", SENSOR_GPU, &mut reading.celsius)?;
            self.get(b"nvmlDeviceGetCurrentClocksThrottleReasons\0", &mut reading.reasons)?;
        }
        Some(reading)
    }

    /// Calls a function that stores one value.
    ///
    /// # Safety
    ///
    /// The function takes a device and a pointer to `T`.
    unsafe fn get<T>(&self, name: &[u8], value: &mut T) -> Option<()> {
        // SAFETY: promised by the caller; the device is one that NVML gave.
        unsafe {
            let function = self.library.get::<unsafe extern "C" fn(*mut c_void, *mut T) -> c_int>(name).ok()?;
            (function(self.handle, value) == OK).then_some(())
        }
    }

    /// Calls a function that stores one of several values.
    ///
    /// # Safety
    ///
    /// The function takes a device, an enumerator and a pointer to `T`.
    unsafe fn get_of<T>(&self, name: &[u8], which: c_int, value: &mut T) -> Option<()> {
        // SAFETY: promised by the caller; the device is one that NVML gave.
        unsafe {
            let function = self.library.get::<unsafe extern "C" fn(*mut c_void, c_int, *mut T) -> c_int>(name).ok()?;
            (function(self.handle, which, value) == OK).then_some(())
        }
    }
}
