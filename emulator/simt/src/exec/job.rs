//! A launch as its workers see it, and the counters that they bring back.

use std::sync::Arc;

use crate::lanes::{CpuLevel, Line};
use crate::launch::Environment;
use crate::memory::Table;
use crate::program::Kernel;
use crate::trace::Observer;

use super::plan::Plan;

/// A launch, as its workers share it.
pub(crate) struct Job<'j> {
    pub(crate) kernel: &'j Kernel,
    pub(crate) plan: &'j Plan,
    pub(crate) table: Arc<Table>,
    pub(crate) params: &'j [u8],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster in x, y and z, and in all; 1 where there are none. `explicit_cluster`: the launch was given them.
    pub(crate) cluster: [u32; 3],
    pub(crate) cluster_blocks: u32,
    pub(crate) explicit_cluster: bool,
    /// Constants of the blocks of a cluster, by rank, from 1 on: [`cluster::constants`].
    pub(crate) constants: Vec<Vec<Line>>,
    pub(crate) n_threads: u32,
    pub(crate) n_warps: u32,
    pub(crate) shared_bytes: u32,
    /// The narrowest access to shared and to global memory, as powers of two.
    pub(crate) shared_shift: u32,
    pub(crate) global_shift: u32,
    pub(crate) dynamic_shared: u32,
    /// Address of the workspace: [`crate::launch::LaunchOptions::grid_workspace`].
    pub(crate) grid_workspace: u64,
    pub(crate) watch: crate::launch::Watch,
    pub(crate) level: CpuLevel,
    pub(crate) environment: Environment<'j>,
    pub(crate) budget: u64,
    /// Local memory of a thread, with its stack; and what the stack is for a GPU.
    pub(crate) local_bytes: u32,
    pub(crate) stack_bytes: u32,
    /// Memory for running blocks.
    pub(crate) room: u64,
    pub(crate) observer: Option<&'j dyn Observer>,
}

/// Counters by operation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Straight runs: +1 where one starts, -1 after its end, so that sums give how often each operation ran.
    pub(crate) runs: Vec<u64>,
    /// As `runs`, with the number of active lanes in place of 1.
    pub(crate) lanes: Vec<u64>,
    /// Active lanes that a guard turned off.
    pub(crate) predicated_off: Vec<u64>,
    /// Branches at which lanes diverged.
    pub(crate) diverged: Vec<u64>,
}

impl Counts {
    pub(crate) fn new(n_ops: usize) -> Self {
        let zeros = || vec![0; n_ops + 1];
        Self {
            runs: zeros(),
            lanes: zeros(),
            predicated_off: zeros(),
            diverged: zeros(),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sum =
            |a: &mut Vec<u64>, b: &Vec<u64>| a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(*b));
        sum(&mut self.runs, &other.runs);
        sum(&mut self.lanes, &other.lanes);
        sum(&mut self.predicated_off, &other.predicated_off);
        sum(&mut self.diverged, &other.diverged);
    }
}
