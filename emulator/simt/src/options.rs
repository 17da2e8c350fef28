//! What a launch is given: grid, arguments, options, and what lies outside memory. [`crate::launch`] exports it.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use crate::{texture::Textures, trace::Observer};

/// Which counters and checks a launch has. Each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckLevel {
    /// Results only. An access outside its allocation still stops the launch.
    Off,
    /// Counts what each instruction does.
    Count,
    /// Makes all checks, those for global races only where threads may load what others store; launches go on.
    Checked,
    /// Checks for races on global memory in all launches.
    CheckedWithGlobalRaces,
}

impl CheckLevel {
    pub fn counts(self) -> bool {
        self >= Self::Count
    }

    pub fn checks(self) -> bool {
        self >= Self::Checked
    }
}

#[derive(Debug, Clone)]
pub struct LaunchRequest {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out by [`program::DecodedKernel::params`].
    pub params: Vec<u8>,
    pub options: LaunchOptions,
}

/// The stack of a thread, unless the host sets another one: as CUDA has it.
pub const STACK_BYTES: u32 = 1024;

#[derive(Debug, Clone)]
pub struct LaunchOptions {
    pub check_level: CheckLevel,
    /// Thread-instructions after which a launch is stopped as runaway, 32 for each of a warp; `None` means no limit.
    pub budget: Option<NonZeroU64>,
    /// Worker threads; `None` means one per core.
    pub threads: Option<NonZeroUsize>,
    /// Whether blocks run in parallel even where their order could change results.
    pub unordered: bool,
    /// Address of the workspace of a cooperative launch, which `this_grid().sync()` finds through `%envreg1` and
    /// `%envreg2`: 8 bytes that start as zeros, `None` if the launch is not cooperative.
    pub grid_workspace: Option<u64>,
    /// Blocks of a cluster in x, y and z, as the launch specifies them.
    pub cluster: Option<[u32; 3]>,
    /// Blocks may start before the previous launch in the stream has ended (programmatic stream serialization). Only
    /// predictions of time use this: the emulated GPU runs one launch after the other.
    pub begins_early: bool,
    /// Bytes of a thread's stack, for kernels whose depth of calls depends on data: what
    /// `cuCtxSetLimit(CU_LIMIT_STACK_SIZE)` sets.
    pub stack_bytes: u32,
    /// Registers of a thread as the machine code has them; `None` if not known.
    pub registers: Option<u32>,
    /// Names that messages use for what the launch passes.
    pub names: Names,
}

/// Names that the host has and PTX has not: used in messages only.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of the parameters as in the source. Empty: taken from the source text, else `parameter 0`.
    pub params: Vec<String>,
    /// Source text by path, as the `.file` directive names it (or by its file name).
    pub sources: Vec<(String, Arc<str>)>,
    /// The environment variable that sets [`LaunchOptions::budget`]; `None` where the program does.
    pub budget: Option<&'static str>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            check_level: CheckLevel::Count,
            budget: None,
            threads: None,
            unordered: false,
            grid_workspace: None,
            cluster: None,
            begins_early: false,
            stack_bytes: STACK_BYTES,
            registers: None,
            names: Names::default(),
        }
    }
}

/// Surroundings of a launch besides memory.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    pub textures: &'a Textures,
    /// Nanoseconds, for `%globaltimer`. The only clock that a kernel can read; `%clock` counts instructions.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
    /// Receives what the launch does, which then is a counted one.
    pub observer: Option<&'a dyn Observer>,
}
