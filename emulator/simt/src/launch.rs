//! What a launch is asked for, and what comes back.

use std::sync::Arc;

use crate::lanes::CpuLevel;
use crate::memory::Memory;
use crate::module::LoadedKernel;
use crate::report::LaunchReport;
use crate::texture::Textures;

/// How closely a launch is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// Results only. Every access still stays inside its allocation, or faults.
    Plain,
    /// And counters.
    Counted,
    /// And all checks but races on global memory.
    Checked,
    /// And races on global memory.
    CheckedGlobalRaces,
}

/// Grid, block and arguments.
#[derive(Debug, Clone)]
pub struct LaunchConfig {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`crate::program::Kernel::params`] says.
    pub params: Vec<u8>,
    /// How to run it.
    pub options: LaunchOptions,
}

/// How to run a launch.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// Observers.
    pub watch: Watch,
    /// Thread-instructions after which a launch is stopped as runaway; 0 for no limit.
    pub budget: u64,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// Vector instructions; `None` for the best the CPU has.
    pub level: Option<CpuLevel>,
    /// Run blocks in parallel even where their order could change results.
    pub unordered: bool,
    /// Names for messages.
    pub names: Names,
}

/// What the host knows and PTX does not: used in messages only.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of the kernel's parameters as in the source; index = parameter. Empty: taken from the source text
    /// when that is given, else `parameter 0`.
    pub params: Vec<String>,
    /// Source text by path, as the `.file` directive names it (or by its file name).
    pub sources: Vec<(String, Arc<str>)>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            watch: Watch::Counted,
            budget: 0,
            threads: 0,
            level: None,
            unordered: false,
            names: Names::default(),
        }
    }
}

/// Why a launch did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchRefused {
    /// A grid or block dimension is 0 or beyond the device's limit.
    #[error("{0}")]
    InvalidConfiguration(String),
    /// Threads × registers, shared memory: more than the device has.
    #[error("{0}")]
    OutOfResources(String),
    /// The parameter block has the wrong size.
    #[error("{0}")]
    InvalidParameters(String),
}

/// What a launch gave: always a report, also when the kernel went wrong.
pub type LaunchResult = Result<LaunchReport, LaunchRefused>;

/// What a kernel can reach besides memory.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Texture objects.
    pub textures: &'a Textures,
    /// Nanoseconds, for `%globaltimer`. The only clock a kernel sees; `%clock` counts instructions.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
}

/// Runs a kernel to its end.
pub fn launch(
    memory: &Memory,
    loaded: &LoadedKernel,
    config: &LaunchConfig,
    environment: Environment<'_>,
) -> LaunchResult {
    let _ = (memory, loaded, config, environment.textures);
    Err(LaunchRefused::InvalidConfiguration(
        "launching is not there yet".into(),
    ))
}
