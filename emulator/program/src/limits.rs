//! What a module and a launch may take of the machine that emulates it.
//!
//! The limits on whole modules and launches stand here. Those of the hardware, of one analysis and of the parser stand
//! with the code that they are about. Each is looked at before what it bounds is taken, and going past it is an error that names
//! what was too large. A program that a compiler wrote stays far below every one of them.

use std::cell::Cell;

/// Operations of one kernel, with its functions inlined.
pub const KERNEL_OPS: usize = 1 << 20;
/// Operations and branch targets of all kernels of a module, with their functions inlined: seconds of decoding.
pub const MODULE_OPS: u64 = 1 << 21;
/// Steps of decoding a module, a few nanoseconds each: registers live from block to block, comparisons of register
/// allocation, and `STATEMENT_STEPS` for each statement visited.
pub const MODULE_STEPS: u64 = 1 << 28;
/// Steps of visiting a statement.
pub const STATEMENT_STEPS: u64 = 8;
/// Things not supported that are named at once.
pub const REFUSALS: usize = 50;
/// Local memory of a thread, as on every GPU so far.
pub const LOCAL_BYTES: u32 = 512 << 10;
/// Lines of registers of a warp: no GPU program has more than a few hundred live at once.
pub const REGISTER_LINES: u32 = 1 << 14;
/// Lines of constants of a kernel.
pub const CONSTANT_LINES: usize = 1 << 18;
/// Pairs of a register and a block that it lives in, of one kernel.
pub const LIVE_PAIRS: usize = 1 << 24;
/// Comparisons of stretches in allocating a kernel's registers, after which a register in a hole keeps its slot to
/// itself.
pub const COMPARISONS: u64 = 50_000_000;

/// Blocks that wait for each other on one worker: as many as a big GPU has room for.
pub const WAITING_BLOCKS: usize = 132 * 16;
/// Threads that run a launch's blocks.
pub const WORKERS: usize = 256;
/// Bytes of results that wait for those of earlier blocks.
pub const EARLY_BYTES: usize = 64 << 20;
/// Text that one block may print.
pub const BLOCK_PRINTS: usize = 1 << 20;
/// Text that a launch may print.
pub const LAUNCH_PRINTS: usize = 1 << 24;
/// Copies that one warp may have under way by `cp.async`: with more, the oldest are done, as on hardware.
pub const COPIES: usize = 1 << 14;
/// Chunks of 1024 units of global memory on which races are looked for, in a block and in a launch: 64 MiB of words.
pub const RACE_CHUNKS: usize = 1 << 14;
/// Blocks that run at the same time while races on global memory are looked for. What is watched of each follows from
/// this number, so that it does not depend on the number of threads.
pub const WATCHED_BLOCKS: usize = 16;

/// Memory for running one launch's blocks, on a device with so much memory.
pub fn launch_bytes(device: u64) -> u64 {
    (device / 4).clamp(64 << 20, 2 << 30)
}

/// Memory for the tree of one module's text, on a device with so much memory.
pub fn tree_bytes(device: u64) -> u64 {
    (device / 2).clamp(64 << 20, 4 << 30)
}

/// Bytes for one operation: itself, and what is prepared for it.
pub const OP_BYTES: u64 = 192;
/// Bytes for one instruction, besides its text.
pub const INSTR_BYTES: u64 = 96;

/// The error of a module or launch that goes past a limit: what was too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TooLarge(pub String);

/// What loading one module has taken so far. Whoever is about to take more asks here first.
#[derive(Debug)]
pub struct Account {
    room: u64,
    bytes: Cell<u64>,
    ops: Cell<u64>,
    steps: Cell<u64>,
}

impl Account {
    /// With room for so many bytes of decoded kernels.
    pub fn new(room: u64) -> Self {
        Self {
            room,
            bytes: Cell::new(0),
            ops: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// Bytes that the decoded module keeps.
    pub fn bytes_taken(&self) -> u64 {
        self.bytes.get()
    }

    /// Operations and branch targets so far.
    pub fn ops_taken(&self) -> u64 {
        self.ops.get()
    }

    /// Steps of decoding that were counted so far.
    pub fn steps_taken(&self) -> u64 {
        self.steps.get()
    }

    /// Steps that are left.
    pub fn steps_left(&self) -> u64 {
        MODULE_STEPS - self.steps.get()
    }

    /// Takes bytes of the decoded module.
    pub fn bytes(&self, n: u64) -> Result<(), TooLarge> {
        let room = self.room;
        add(&self.bytes, n, room, || {
            format!("its code takes more than the {room} bytes that there are for it")
        })
    }

    /// Takes operations, with their bytes.
    pub fn ops(&self, n: u64) -> Result<(), TooLarge> {
        add(&self.ops, n, MODULE_OPS, || {
            format!("its kernels have more than {MODULE_OPS} operations, with their functions inlined")
        })?;
        self.bytes(n * OP_BYTES)
    }

    /// Takes steps of decoding.
    pub fn steps(&self, n: u64) -> Result<(), TooLarge> {
        add(&self.steps, n, MODULE_STEPS, || {
            format!(
                "decoding it takes more than {MODULE_STEPS} steps; the functions that its kernels share are inlined in each"
            )
        })
    }
}

fn add(sum: &Cell<u64>, n: u64, most: u64, why: impl Fn() -> String) -> Result<(), TooLarge> {
    match sum.get().checked_add(n).filter(|sum| *sum <= most) {
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
