//! Chooses the machine's GPU, or where there is none, the emulated one: once, before the first CUDA call.

pub(crate) mod counters;
pub(crate) mod cublas;
pub mod dependent;
pub mod foreign;
pub mod map;
pub(crate) mod meter;
pub mod parts;
pub mod roofline;
pub mod session;

use std::cell::{OnceCell, RefCell};
use std::process::{Command, Stdio};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, DriverError};

use crate::device::cublas::Cublas;
use crate::{StepError, device::counters::Report};

#[derive(Debug)]
pub struct Gpu {
    /// NVIDIA's library for this device, loaded on first use.
    cublas: OnceCell<Result<Cublas, String>>,
    /// Modules that are loaded, by their text or machine code: compiling one takes a driver some time.
    modules: RefCell<Vec<(Vec<u8>, Arc<CudaModule>)>>,
    /// The primary context of device 0.
    pub context: Arc<CudaContext>,
    /// The stream that everything here goes to.
    pub stream: Arc<CudaStream>,
    /// Functions of the emulated device beyond CUDA; `None` on a real GPU.
    pub emulator: Option<emulator_client::Emulator>,
    pub info: DeviceInfo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name of the device, such as `NVIDIA H200`.
    pub name: String,
    /// Compute capability, such as `9.0`.
    pub capability: String,
    /// CUDA version of the driver: `13.0`
    pub driver: String,
    /// Bytes of device memory, in use or not.
    pub memory: usize,
    /// Bytes of the level-2 cache.
    pub l2: usize,
    pub n_sms: usize,
    /// Maximum shared memory of one block, after the opt-in, in bytes.
    pub shared_per_block: usize,
    /// The most blocks of a grid, in x, y and z.
    pub max_grid: [u32; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU where there is one, else the emulated device.
    Any,
    /// The emulated device also where there is a GPU.
    Emulated,
    /// A GPU, or nothing.
    Real,
}

impl DeviceChoice {
    /// Reads `--emulate` and, without it, `TILE_DEVICE`.
    pub(crate) fn from_option(emulate: bool) -> Result<Self, StepError> {
        if emulate { Ok(Self::Emulated) } else { Self::from_environment() }
    }

    /// Reads `TILE_DEVICE`.
    ///
    /// # Errors
    /// Returns an error if the variable holds another word.
    pub fn from_environment() -> Result<Self, StepError> {
        match std::env::var("TILE_DEVICE").as_deref() {
            Err(_) | Ok("") => Ok(Self::Any),
            Ok("emulated") => Ok(Self::Emulated),
            Ok("real") => Ok(Self::Real),
            Ok(other) => Err(StepError::Usage(format!(
                "TILE_DEVICE={other} is not understood; use emulated or real, or leave it out"
            ))),
        }
    }
}

/// Command of the child process that looks for a device of the machine's driver.
pub(crate) const PROBE: &str = "probe-device";
/// Exit code of `probe-device` when the driver has no device.
pub(crate) const NO_DEVICE: u8 = 10;

/// Loads the chosen driver into this process. Must precede the first call of cudarc, which panics when it finds no
/// library, and keeps the first that it finds.
pub fn choose_driver(choice: DeviceChoice) -> Result<(), StepError> {
    let preload = |why: &str| match emulator_client::preload() {
        Ok(_) => Ok(()),
        Err(error) => Err(StepError::CouldNot(format!(
            "{why}, and the emulated GPU cannot be used: {error}; run the step with cargo, or keep libnvcuda beside it"
        ))),
    };
    match choice {
        DeviceChoice::Emulated => preload("the emulated GPU was asked for"),
        DeviceChoice::Real if !nvidia_library() => {
            Err(StepError::CouldNot("TILE_DEVICE=real, but this machine has no CUDA driver (libcuda.so.1)".into()))
        }
        DeviceChoice::Real => Ok(()),
        DeviceChoice::Any if !nvidia_library() => {
            // Under cargo the library path has libnvcuda; a copied program has it beside itself.
            // SAFETY: loads a library that is about to be loaded anyway, and lets it go.
            let present = unsafe { sys::is_culib_present() };
            if present { Ok(()) } else { preload("this machine has no CUDA driver") }
        }
        DeviceChoice::Any => match probe() {
            Ok(()) => Ok(()),
            Err(why) => {
                eprintln!("the CUDA driver of this machine has no device ({why}): using the emulated GPU");
                preload("the CUDA driver of this machine has no device")
            }
        },
    }
}

/// Returns whether the loader finds a library under the names of NVIDIA's driver.
pub(crate) fn nvidia_library() -> bool {
    let names: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };
    // SAFETY: loading a CUDA driver runs its initialisers, which is what the program is about to do anyway.
    names.iter().any(|name| unsafe { libloading::Library::new(*name) }.is_ok())
}

/// Checks in a child process whether the driver has a device: a driver that crashes on start must not end this process,
/// and cudarc cannot switch drivers afterwards.
fn probe() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let child = Command::new(program)
        .arg(PROBE)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if child.status.success() {
        Ok(())
    } else {
        Err(match String::from_utf8_lossy(&child.stdout).trim() {
            "" => format!("it ended with {}", child.status),
            message => message.to_owned(),
        })
    }
}

/// Counts the devices, in the child process.
pub(crate) fn count_devices() -> Result<i32, String> {
    // SAFETY: loads a library and lets it go.
    if !unsafe { sys::is_culib_present() } {
        return Err("no driver library".into());
    }
    match CudaContext::device_count() {
        Ok(0) => Err("it counts 0 devices".into()),
        Ok(n) => Ok(n),
        Err(error) => Err(crate::describe(error)),
    }
}

impl Gpu {
    /// Opens the device that `TILE_DEVICE` selects, for a stand-alone program, before any other call of CUDA.
    pub fn find() -> Result<Self, StepError> {
        choose_driver(DeviceChoice::from_environment()?)?;
        Self::open()
    }
}

// ANCHOR: open
impl Gpu {
    /// Returns a context and a stream on the first device.
    pub fn open() -> Result<Self, StepError> {
        let context = CudaContext::new(0).map_err(|error| {
            StepError::CouldNot(format!("no CUDA device: {}; --emulate uses the emulated GPU", crate::describe(error)))
        })?;
        // Not the default stream, of which nothing can be captured into a graph.
        let stream = context.per_thread_stream();
        Ok(Self {
            info: device_info(&context)?,
            emulator: emulator_client::find(),
            cublas: OnceCell::new(),
            modules: RefCell::default(),
            context,
            stream,
        })
    }
}
// ANCHOR_END: open

impl Gpu {
    /// Returns the module of a text or of machine code, which is loaded on first use.
    pub(crate) fn module<E>(
        &self, image: &[u8], load: impl FnOnce() -> Result<Arc<CudaModule>, E>,
    ) -> Result<Arc<CudaModule>, E> {
        if let Some((_, module)) = self.modules.borrow().iter().find(|(known, _)| known == image) {
            return Ok(module.clone());
        }
        let module = load()?;
        self.modules.borrow_mut().push((image.to_owned(), module.clone()));
        Ok(module)
    }

    /// Returns the emulated device's report of the last launch; `None` on a real GPU or if the launch was predicted.
    ///
    /// # Errors
    /// Returns an error if the emulated device is of another build.
    pub(crate) fn report(&self) -> Result<Option<Report>, StepError> {
        let text = self.emulator.and_then(|emulator| emulator.report());
        let report = text.as_deref().map(Report::parse).transpose();
        report.map(Option::flatten).map_err(|error| {
            StepError::CouldNot(format!("the report comes from an emulated GPU of another build: {error}"))
        })
    }

    pub fn cublas(&self) -> Result<&Cublas, &String> {
        self.cublas.get_or_init(|| Cublas::open(&self.stream)).as_ref()
    }
}

fn device_info(context: &CudaContext) -> Result<DeviceInfo, DriverError> {
    let number = |attribute| context.attribute(attribute).map(|n| usize::try_from(n).unwrap_or(0));
    let grid = |attribute| context.attribute(attribute).map(|n| u32::try_from(n).unwrap_or(0));
    let (major, minor) = context.compute_capability()?;
    let mut version = 0;
    // SAFETY: writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(DeviceInfo {
        name: context.name()?,
        capability: format!("{major}.{minor}"),
        driver: format!("{}.{}", version / 1000, version % 1000 / 10),
        memory: context.total_mem()?,
        l2: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        n_sms: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_per_block: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        max_grid: [
            grid(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            grid(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            grid(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
    })
}
