//! The [`Counters`] of a launch, a source line or an instruction, and the metrics that derive from them.
//!
//! Everything that counts, reports, compares or shows a counter uses these two structs: the emulator and its report,
//! the page of `bench`, the measures of tasks, `explain`, the records, the figures and the book. A number that two of
//! them show is computed here, once. The crate neither counts nor formats.
//!
//! As JSON both are objects of all their fields. Missing or unknown keys are errors: the report is of another build.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

#[macro_use]
mod summary;

use serde::{Deserialize, Serialize};

pub const WARP: f64 = 32.0;
pub const SECTOR_BYTES: f64 = 32.0;
/// Multiply-adds of an `mma.sync.m16n8k16`, the unit in which tables count tensor cores.
pub const TENSOR_PRODUCT: f64 = 16.0 * 8.0 * 16.0;

/// Declares [`Counters`] and what must name each of its fields.
macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Counts, named so that each can be set beside a metric of Nsight Compute.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Counters {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Counters {
            pub fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)+
            }
        }
    };
}

counters! {
    /// Instructions issued to warps: of machine code, `smsp__inst_executed.sum`; PTX has other instructions.
    warp_instructions,
    /// Instructions issued to warps, times their active lanes. In machine code `smsp__thread_inst_executed.sum`.
    thread_instructions,
    /// Multiply-adds of active lanes, in FP32, FP64 and FP16. Of FP32
    /// `smsp__sass_thread_inst_executed_op_ffma_pred_on.sum`, of FP64
    /// `smsp__sass_thread_inst_executed_op_dfma_pred_on.sum`; no metric is set beside those of FP16.
    fmas,
    /// Products that tensor cores computed and added: 2048 of an `mma.sync` of m16n8k16.
    tensor_products,
    /// Passes over shared memory's banks in which `wgmma` reads its factors: 128 bytes each, each piece once.
    tensor_operand_wavefronts,
    /// Global load requests. `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`.
    global_load_requests,
    /// 32-byte sectors that these loads touch. `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`.
    global_load_sectors,
    /// Bytes that lanes loaded from global memory.
    global_load_bytes,
    /// Global store requests. `l1tex__t_requests_pipe_lsu_mem_global_op_st.sum`.
    global_store_requests,
    /// 32-byte sectors that these stores touch. `l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum`.
    global_store_sectors,
    /// Bytes that lanes stored to global memory.
    global_store_bytes,
    /// Atomic and reduction requests on global memory: `l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum` and
    /// `…_op_red.sum` together.
    global_atomic_requests,
    /// Sectors of these atomics. Lanes on one word are served one after the other, each with a sector of its own:
    /// `l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum` and `…_op_red.sum` together.
    global_atomic_sectors,
    /// Passes of global loads and stores over L1: for each access the worse of the fullest bank of tags and the fullest
    /// bank of data. A rule that was fitted to the clocks of loads that hit L1 on an H200; stores follow it by
    /// assumption. Nearest is `l1tex__data_pipe_lsu_wavefronts.sum`, which has shared memory in it and no banks of
    /// tags; the two were never compared. Atomics and local memory are not in it, nor the fewest that the model of time
    /// charges for accesses of 8 and 16 bytes a lane.
    l1_passes,
    /// Shared load instructions, as written.
    shared_load_requests,
    /// Wavefronts of the loads as written. `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`.
    shared_load_wavefronts,
    /// The least wavefronts that these loads could take: a part of [`Counters::ideal`].
    shared_load_ideal,
    /// Bytes that lanes loaded from shared memory.
    shared_load_bytes,
    /// Requests after neighbouring loads are merged as ptxas merges them. `smsp__inst_executed_op_shared_ld.sum`.
    shared_load_requests_merged,
    /// Wavefronts that the merged loads take.
    shared_load_wavefronts_merged,
    /// The least wavefronts that the merged loads could take.
    shared_load_ideal_merged,
    /// Shared store instructions, as written.
    shared_store_requests,
    /// Wavefronts of the stores as written. `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum`.
    shared_store_wavefronts,
    /// The least wavefronts that these stores could take: a part of [`Counters::ideal`].
    shared_store_ideal,
    /// Bytes that lanes stored to shared memory.
    shared_store_bytes,
    /// Requests after neighbouring stores are merged as ptxas merges them. `smsp__inst_executed_op_shared_st.sum`.
    shared_store_requests_merged,
    /// Wavefronts that the merged stores take.
    shared_store_wavefronts_merged,
    /// The least wavefronts that the merged stores could take.
    shared_store_ideal_merged,
    /// Atomics on shared memory, as written.
    shared_atomic_requests,
    /// Atomics in machine code: ptxas makes a loop of a load and a compare-and-swap of those on floats and of most on
    /// 64 bits, and each round counts, as many as one warp by itself needs. The loads are in
    /// [`Counters::shared_load_requests_merged`]. `smsp__inst_executed_op_shared_atom.sum`.
    shared_atomic_requests_merged,
    /// Wavefronts of the atomics in machine code. `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum`.
    shared_atomic_wavefronts,
    /// The least wavefronts that these atomics could take.
    shared_atomic_ideal,
    /// Asynchronous copies (`cp.async`), which do not count as stores to shared memory. Their reads are global loads.
    /// `smsp__inst_executed_op_ldgsts.sum`.
    async_copy_requests,
    /// Wavefronts of the writes of `cp.async`, for sources that lie side by side; others take more.
    /// `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum`.
    async_copy_wavefronts,
    /// The least wavefronts that these writes could take.
    async_copy_ideal,
    /// Bytes that lanes copied with `cp.async`.
    async_copy_bytes,
    /// Local loads and stores.
    local_requests,
    /// Bytes that lanes loaded from local memory or stored to it.
    local_bytes,
    /// Constant and parameter loads.
    constant_requests,
    /// Texture fetches: instructions, not lanes.
    texture_requests,
    /// Bulk copies that were started (`cp.async.bulk`: of bytes, and of boxes). The bytes moved are not counted.
    bulk_copies,
    /// Barriers that warps arrived at.
    barriers,
    /// Branches at which lanes of one warp went different ways.
    divergent_branches,
}

summary! {
    /// Instructions issued to warps.
    instructions = |c| c.warp_instructions => Instructions("instr", "PTX instructions of warps");
    /// Instructions times their active lanes.
    lane_instructions = |c| c.thread_instructions => Lanes("lanes", "active lanes per instruction");
    /// Multiply-adds, counted once for each active lane.
    multiply_adds = |c| c.fmas => MultiplyAdds("FMA", "multiply-adds of warps");
    requests = Counters::global_requests => Requests("global", "requests to global memory");
    /// Sectors of 32 bytes that these moved.
    sectors = Counters::global_sectors => Sectors("sectors", "sectors of global memory");
    /// Passes of loads and stores over L1.
    l1_passes = |c| c.l1_passes => L1Passes("L1", "passes over L1, modelled");
    shared_requests = Counters::shared_requests => SharedRequests("shared", "accesses to shared memory");
    /// Wavefronts that these took.
    wavefronts = Counters::wavefronts => Wavefronts("wavefr", "wavefronts of shared memory");
    /// Wavefronts beyond the necessary ones.
    excess = Counters::excess => Excess("excess", "excess wavefronts");
    /// Accesses to local memory: registers that were spilled, arrays that are not registers.
    local_requests = |c| c.local_requests => LocalRequests("local", "accesses to local memory");
    barriers = |c| c.barriers => Barriers("sync", "barriers that warps arrive at");
    /// Branches at which the lanes of a warp went different ways.
    divergent_branches = |c| c.divergent_branches => DivergentBranches("split", "divergent branches");
}

/// Derived metrics. Those of shared memory are of the accesses that ptxas merges, as the hardware executes them.
impl Counters {
    /// Requests to global memory: loads, stores and atomics.
    pub fn global_requests(&self) -> u64 {
        self.global_load_requests + self.global_store_requests + self.global_atomic_requests
    }

    /// Returns the sectors of [`Counters::global_requests`].
    pub fn global_sectors(&self) -> u64 {
        self.global_load_sectors + self.global_store_sectors + self.global_atomic_sectors
    }

    /// Returns the accesses to shared memory: loads, stores, atomics and asynchronous copies.
    pub fn shared_requests(&self) -> u64 {
        self.shared_load_requests_merged
            + self.shared_store_requests_merged
            + self.shared_atomic_requests_merged
            + self.async_copy_requests
    }

    /// Returns the wavefronts of shared memory, of everything that passes over its banks: loads, stores, atomics,
    /// asynchronous copies and the factors of `wgmma`. `memory_l1_wavefronts_shared`. The terms equal those of the pair
    /// `shared_wavefronts` in `course/records/src/profile.rs` (test `sums_are_the_derived_metrics`).
    pub fn wavefronts(&self) -> u64 {
        self.shared_load_wavefronts_merged
            + self.shared_store_wavefronts_merged
            + self.shared_atomic_wavefronts
            + self.async_copy_wavefronts
            + self.tensor_operand_wavefronts
    }

    /// Returns the least that [`Counters::wavefronts`] could be. `memory_l1_wavefronts_shared_ideal`. The terms are
    /// also those of the pair `shared_ideal` in `course/records/src/profile.rs`, held equal by the same test.
    pub fn ideal(&self) -> u64 {
        self.shared_load_ideal_merged
            + self.shared_store_ideal_merged
            + self.shared_atomic_ideal
            + self.async_copy_ideal
            + self.tensor_operand_wavefronts
    }

    /// Returns the wavefronts that a better layout would save. `derived__memory_l1_wavefronts_shared_excessive`.
    pub fn excess(&self) -> u64 {
        self.wavefronts().saturating_sub(self.ideal())
    }

    /// Returns the average number of active lanes of an instruction: 32 is best.
    pub fn lanes(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }

    pub fn wavefronts_per_load(&self) -> Option<f64> {
        ratio(self.shared_load_wavefronts_merged, self.shared_load_requests_merged)
    }

    pub fn wavefronts_per_store(&self) -> Option<f64> {
        ratio(self.shared_store_wavefronts_merged, self.shared_store_requests_merged)
    }

    /// Returns the bytes that the lanes' loads request, per byte of the sectors: 1 is best.
    pub fn load_efficiency(&self) -> Option<f64> {
        Some(ratio(self.global_load_bytes, self.global_load_sectors)? / SECTOR_BYTES)
    }

    /// Returns the bytes that lanes wrote in stores, per byte of the sectors: 1 is best.
    pub fn store_efficiency(&self) -> Option<f64> {
        Some(ratio(self.global_store_bytes, self.global_store_sectors)? / SECTOR_BYTES)
    }
}

fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}
