//! Limits on the host resources that a module and a launch may take.
//!
//! Limits of the hardware, of one analysis and of the parser stand with the code that they are about. A limit is
//! checked before the resource is taken; an error names the resource. Compiled programs stay far below all of them.

use std::cell::Cell;

/// Operations of one kernel, with its functions inlined.
pub const KERNEL_OPS: usize = 1 << 20;
/// Operations and branch targets of all kernels of a module, with their functions inlined: seconds of decoding.
pub const MODULE_OPS: u64 = 1 << 21;
/// Steps of decoding a module, some nanoseconds each: live registers, comparisons of allocation, statements.
pub const MODULE_STEPS: u64 = 1 << 28;
/// Steps of visiting a statement.
pub const STATEMENT_STEPS: u64 = 8;
/// Unsupported features reported at once.
pub const REFUSALS: usize = 50;
/// Local memory of a thread, on every GPU so far.
pub const LOCAL_BYTES: u32 = 512 << 10;
/// Register lines of a warp. GPU programs have no more than a few hundred live at once.
pub const REGISTER_LINES: u32 = 1 << 14;
pub const CONSTANT_LINES: usize = 1 << 18;
/// Pairs of a live register and a basic block, in one kernel.
pub const LIVE_PAIRS: usize = 1 << 24;
/// Comparisons of live ranges in register allocation, after which registers no longer share slots.
pub const COMPARISONS: u64 = 50_000_000;

/// Blocks that wait for each other on one worker: the capacity of a big GPU.
pub const WAITING_BLOCKS: usize = 132 * 16;
/// Host threads that run a launch.
pub const WORKERS: usize = 256;
/// Bytes of results that wait for those of earlier blocks.
pub const EARLY_BYTES: usize = 64 << 20;
/// Bytes that one block may print.
pub const BLOCK_PRINTS: usize = 1 << 20;
/// Thread-instructions that each line costs which a block prints beyond that; the following are similar costs.
pub const CUT_LINE: u64 = 20_000;
pub const WARP_COST: u64 = 1024;
/// Cost of a read of memory that waits for another thread.
pub const POLL_COST: u64 = 128;
/// Cost of a lane's atomic update.
pub const ATOMIC_COST: u64 = 32;
pub const MISTAKE_COST: u64 = 4096;
/// Bytes that a launch may print.
pub const LAUNCH_PRINTS: usize = 1 << 24;
/// Pending `cp.async` copies of a warp. With more, the oldest complete, as on hardware.
pub const COPIES: usize = 1 << 14;
/// Chunks of 1024 units of global memory that race checks track, in a block and in a launch: 64 MiB of words.
pub const RACE_CHUNKS: usize = 1 << 14;
/// Blocks that run at once under race checks of global memory; memory per block follows from it, not from threads.
pub const WATCHED_BLOCKS: usize = 16;

/// Returns the host memory for a launch on a device with `device` bytes.
pub fn launch_bytes(device: u64) -> u64 {
    (device / 4).clamp(64 << 20, 2 << 30)
}

/// Returns the host memory for a module's syntax tree on a device with `device` bytes.
pub fn tree_bytes(device: u64) -> u64 {
    (device / 2).clamp(64 << 20, 4 << 30)
}

/// Bytes of an operation, with the data prepared for it.
pub const OP_BYTES: u64 = 192;
/// Bytes of an instruction, without its text.
pub const INSTR_BYTES: u64 = 96;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TooLarge(pub String);

/// Resources that loading one module has taken so far, and those that it may take.
#[derive(Debug)]
pub struct Account {
    max_bytes: u64,
    max_ops: u64,
    max_steps: u64,
    bytes: Cell<u64>,
    ops: Cell<u64>,
    steps: Cell<u64>,
}

impl Account {
    /// Creates an account with at most `max_bytes` of decoded kernels.
    pub fn new(max_bytes: u64) -> Self {
        Self::with_limits(max_bytes, MODULE_OPS, MODULE_STEPS)
    }

    pub fn with_limits(max_bytes: u64, max_ops: u64, max_steps: u64) -> Self {
        Self { max_bytes, max_ops, max_steps, bytes: Cell::new(0), ops: Cell::new(0), steps: Cell::new(0) }
    }

    pub fn bytes_taken(&self) -> u64 {
        self.bytes.get()
    }

    pub fn steps_taken(&self) -> u64 {
        self.steps.get()
    }

    pub fn steps_left(&self) -> u64 {
        self.max_steps - self.steps.get()
    }

    /// Charges bytes of the decoded module.
    pub fn bytes(&self, n: u64) -> Result<(), TooLarge> {
        let most = self.max_bytes;
        add(&self.bytes, n, most, || format!("its code takes more than the {most} bytes that there are for it"))
    }

    /// Charges operations, with their bytes.
    pub fn ops(&self, n: u64) -> Result<(), TooLarge> {
        let max = self.max_ops;
        add(&self.ops, n, max, || {
            format!("its kernels have more than {max} operations, with their functions inlined")
        })?;
        self.bytes(n * OP_BYTES)
    }

    /// Charges steps of decoding.
    pub fn steps(&self, n: u64) -> Result<(), TooLarge> {
        let max = self.max_steps;
        add(&self.steps, n, max, || {
            format!("decoding it takes more than {max} steps; the functions that its kernels share are inlined in each")
        })
    }
}

fn add(sum: &Cell<u64>, n: u64, max: u64, why: impl Fn() -> String) -> Result<(), TooLarge> {
    match sum.get().checked_add(n).filter(|sum| *sum <= max) {
        Some(new) => {
            sum.set(new);
            Ok(())
        }
        None => Err(TooLarge(format!("the module is too large: {}", why()))),
    }
}

impl Default for Account {
    fn default() -> Self {
        Self::new(2 << 30)
    }
}
