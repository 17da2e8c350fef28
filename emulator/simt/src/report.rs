//! The report of a launch: counters per instruction, and what the checks gathered.
//!
//! # As JSON
//!
//! [`LaunchReport`] serialises to one object, to which the crate `findings` adds `findings`. Fields are only ever
//! added; names and meanings stay.
//!
//! - `kernel`, `grid`, `block`, `dynamic_shared`: the launch.
//! - `code`: what ran, and so what `instructions` and their counters are of: `"ptx"`, or `"machine"` code.
//! - `counted`, `checked`: what was watched; without `counted` every counter is 0.
//! - `total`: an object of counters, named and documented as the fields of [`Counters`].
//! - `instructions`: a list, one per instruction: `text`, `ptx_line`, `source` (`[file, line]` or null), `counters`.
//! - `lines`: a list, one per source line: `file`, `line`, `counters`.
//! - `printed`: what the kernel printed.

mod table;

use serde::Serialize;

pub use table::lines_table;

use crate::check::Mistakes;

/// Everything about one launch.
#[derive(Debug, Clone, Serialize)]
pub struct LaunchReport {
    /// Symbol of the kernel, as written in PTX.
    pub kernel: String,
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// The language of the code that ran.
    pub code: Language,
    /// Whether counters were on (else all are 0).
    pub counted: bool,
    /// Whether checks were on.
    pub checked: bool,
    /// Sums over the launch.
    pub total: Counters,
    /// One entry per instruction of the code, in its order.
    pub instructions: Vec<InstrReport>,
    /// One entry per source line that has instructions, in order of file and line.
    pub lines: Vec<LineReport>,
    /// What the checks found. Errors make the launch fail.
    #[serde(skip)]
    pub mistakes: Mistakes,
    /// What the kernel printed, blocks in index order.
    pub printed: String,
}

/// The language of a kernel's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// PTX, as compilers write it.
    Ptx,
    /// Machine code: what a GPU executes.
    Machine,
}

/// What one instruction did.
#[derive(Debug, Clone, Serialize)]
pub struct InstrReport {
    /// The instruction as written in PTX or SASS.
    pub text: String,
    /// Line in the PTX; of machine code, its number, from 1.
    pub ptx_line: u32,
    /// Source file and line, when known.
    pub source: Option<(String, u32)>,
    /// What was counted there.
    pub counters: Counters,
}

/// One source line's share.
#[derive(Debug, Clone, Serialize)]
pub struct LineReport {
    /// Path of the source file, as the compiler wrote it.
    pub file: String,
    /// Line in that file, from 1.
    pub line: u32,
    /// What was counted there.
    pub counters: Counters,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Counts, named so that each can be set beside a metric of Nsight Compute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Instructions issued to warps: of machine code `smsp__inst_executed.sum`, of PTX others than the hardware's.
    pub warp_instructions: u64,
    /// Times active lanes. `smsp__thread_inst_executed.sum`, as above.
    pub thread_instructions: u64,
    /// FP32 (and FP64, FP16) multiply-adds of active lanes. `smsp__sass_thread_inst_executed_op_ffma_pred_on.sum`.
    pub fmas: u64,
    /// Products that tensor cores computed and added: 2048 of an `mma.sync` of m16n8k16.
    #[serde(skip_serializing_if = "is_zero")]
    pub tensor_products: u64,
    /// Passes over the banks of shared memory in which products of warpgroups (`wgmma`) read their factors: 128 bytes
    /// each, every product what it needs once.
    #[serde(skip_serializing_if = "is_zero")]
    pub tensor_operand_wavefronts: u64,
    /// Global load requests. `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`.
    pub global_load_requests: u64,
    /// 32-byte sectors of them. `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`.
    pub global_load_sectors: u64,
    /// Bytes that lanes asked for.
    pub global_load_bytes: u64,
    /// Store requests: `l1tex__t_requests_pipe_lsu_mem_global_op_st.sum`.
    pub global_store_requests: u64,
    /// Sectors that they touched: `l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum`.
    pub global_store_sectors: u64,
    /// Bytes that lanes stored.
    pub global_store_bytes: u64,
    /// Atomic and reduction requests on global memory: `l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum` and
    /// `…_op_red.sum` together.
    pub global_atomic_requests: u64,
    /// Sectors of them. Lanes on one word go one after the other, each with a sector of its own:
    /// `l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum` and `…_op_red.sum` together.
    pub global_atomic_sectors: u64,
    /// Shared load instructions, as written.
    pub shared_load_requests: u64,
    /// Wavefronts of those: `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`.
    pub shared_load_wavefronts: u64,
    /// The least that these accesses could take. `memory_l1_wavefronts_shared_ideal`.
    pub shared_load_ideal: u64,
    /// Bytes that lanes loaded.
    pub shared_load_bytes: u64,
    /// Requests after neighbouring loads are merged as ptxas merges them. `smsp__inst_executed_op_shared_ld.sum`.
    pub shared_load_requests_merged: u64,
    /// Wavefronts that the merged loads take.
    pub shared_load_wavefronts_merged: u64,
    /// The least wavefronts that the merged loads could take.
    pub shared_load_ideal_merged: u64,
    /// Shared store instructions, as written.
    pub shared_store_requests: u64,
    /// Wavefronts of those: `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum`.
    pub shared_store_wavefronts: u64,
    /// The least that these accesses could take.
    pub shared_store_ideal: u64,
    /// Bytes that lanes stored.
    pub shared_store_bytes: u64,
    /// Requests after neighbouring stores are merged as ptxas merges them. `smsp__inst_executed_op_shared_st.sum`.
    pub shared_store_requests_merged: u64,
    /// Wavefronts that the merged stores take.
    pub shared_store_wavefronts_merged: u64,
    /// The least wavefronts that the merged stores could take.
    pub shared_store_ideal_merged: u64,
    /// Atomics on shared memory, as written.
    pub shared_atomic_requests: u64,
    /// Atomics in machine code: ptxas makes a loop of a load and a compare-and-swap of those on floats and of most on
    /// 64 bits, and each round counts, as many as one warp by itself needs. The loads are in
    /// [`Counters::shared_load_requests_merged`]. `smsp__inst_executed_op_shared_atom.sum`.
    pub shared_atomic_requests_merged: u64,
    /// Wavefronts of those. `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum`.
    pub shared_atomic_wavefronts: u64,
    /// The least wavefronts that these atomics could take.
    pub shared_atomic_ideal: u64,
    /// `cp.async`, which is no store to shared memory. Its reads are global loads. `smsp__inst_executed_op_ldgsts.sum`.
    pub async_copy_requests: u64,
    /// Wavefronts of its writes, for sources that lie side by side; others take more.
    /// `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum`.
    pub async_copy_wavefronts: u64,
    /// The least wavefronts that these writes could take.
    pub async_copy_ideal: u64,
    /// Bytes that lanes copied.
    pub async_copy_bytes: u64,
    /// Local loads and stores.
    pub local_requests: u64,
    /// Bytes that lanes loaded from local memory or stored to it.
    pub local_bytes: u64,
    /// Constant and parameter loads.
    pub constant_requests: u64,
    /// Texture fetches: instructions, not lanes.
    pub texture_requests: u64,
    /// Bulk copies that were started (`cp.async.bulk`: of bytes, and of boxes of tensors). What they move is not counted:
    /// neither sectors nor wavefronts.
    pub bulk_copies: u64,
    /// Barriers that warps arrived at.
    pub barriers: u64,
    /// Branches at which lanes of one warp went different ways.
    pub divergent_branches: u64,
}
