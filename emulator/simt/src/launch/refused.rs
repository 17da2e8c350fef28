//! Launches that cannot start. The crate `diagnostics` has the words.
//!
//! The limits are those of compute capability 9.0, which the emulated device reports.

use super::LaunchRequest;
use program::limits::LOCAL_BYTES;
use program::{DecodedKernel, MAX_CLUSTER};

pub use crate::occupancy::MAX_THREADS;
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub const MAX_GRID: [u32; 3] = [0x7FFF_FFFF, 65535, 65535];
/// Shared memory of a block without asking for more.
pub const MAX_SHARED: u32 = 48 * 1024;
/// Shared memory of a block whose kernel opted in (`cuFuncSetAttribute`).
pub const MAX_SHARED_OPT_IN: u32 = 227 * 1024;
/// Shared memory of a block with the gaps between its arrays.
const MAX_SHARED_WITH_GAPS: u32 = 1 << 24;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the launch is refused: {self:?}")]
pub enum LaunchRefused {
    /// A dimension of the grid is 0.
    NoBlocks,
    /// A dimension of the block is 0.
    NoThreads,
    /// More than [`MAX_THREADS`] in a block.
    ManyThreads { threads: u64 },
    /// A dimension of the block is beyond [`MAX_BLOCK`].
    LargeBlock,
    /// A dimension of the grid is beyond [`MAX_GRID`].
    LargeGrid,
    /// `.reqntid` names another block.
    OtherBlock { required: [u32; 3] },
    /// More threads in a block than `__launch_bounds__` allows.
    AboveLaunchBounds {
        threads: u64,
        /// The most threads that the kernel was compiled for.
        limit: u64,
    },
    /// A dimension of the grid is not a multiple of the clusters'.
    GridOfClusters { cluster: [u32; 3] },
    /// More blocks in a cluster than the device or the kernel allows, or none.
    ClusterSize { cluster: [u32; 3], most: u32 },
    /// `.reqnctapercluster` names other clusters.
    OtherCluster { required: [u32; 3] },
    /// `.explicitcluster`, and the launch has no clusters.
    NoCluster,
    /// More shared memory than a block can have.
    LargeShared,
    /// More shared memory than a block has without asking.
    SharedNotAllowed,
    /// More than [`LOCAL_BYTES`] bytes of local memory in a thread.
    LargeLocal,
    /// Running one block takes more of this machine's memory than there is for it.
    LargeMemory {
        /// Bytes for a block, most of them local memory.
        asked: u64,
        /// Bytes that there are: see [`program::limits::launch_bytes`].
        room: u64,
    },
    /// The parameter block has another size.
    ParameterBytes { given: usize },
    /// The kernel takes another number of parameters.
    ParameterCount { given: usize },
}

/// Checks a launch before it starts, all but its parameters. `allowed_dynamic` is the dynamic shared memory that the
/// kernel was given by `cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)`, `None` when it was never set.
pub fn check(
    kernel: &DecodedKernel, request: &LaunchRequest, allowed_dynamic: Option<u32>,
) -> Result<(), LaunchRefused> {
    let (grid, block) = (request.grid, request.block);
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    let refusals = [
        (grid.contains(&0), LaunchRefused::NoBlocks),
        (block.contains(&0), LaunchRefused::NoThreads),
        (threads > u64::from(MAX_THREADS), LaunchRefused::ManyThreads { threads }),
        (beyond(block, MAX_BLOCK), LaunchRefused::LargeBlock),
        (beyond(grid, MAX_GRID), LaunchRefused::LargeGrid),
    ];
    if let Some((_, why)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(why);
    }
    if let Some(required) = kernel.required_threads.filter(|required| *required != block) {
        return Err(LaunchRefused::OtherBlock { required });
    }
    if let Some(most) = kernel.max_threads {
        let limit: u64 = most.iter().map(|&n| u64::from(n.max(1))).product();
        refuse_if!(threads > limit, LaunchRefused::AboveLaunchBounds { threads, limit });
    }
    check_cluster(kernel, request.grid, request.options.cluster)?;
    let fixed = u64::from(kernel.shared_static_bytes);
    let total = fixed + u64::from(request.dynamic_shared);
    refuse_if!(total > u64::from(MAX_SHARED_OPT_IN), LaunchRefused::LargeShared);
    let allowed =
        allowed_dynamic.map_or(u64::from(MAX_SHARED), |allowed| u64::from(MAX_SHARED).max(u64::from(allowed) + fixed));
    refuse_if!(total > allowed, LaunchRefused::SharedNotAllowed);
    Ok(())
}

pub fn check_cluster(kernel: &DecodedKernel, grid: [u32; 3], asked: Option<[u32; 3]>) -> Result<(), LaunchRefused> {
    let directives = &kernel.cluster;
    if let (Some(required), Some(asked)) = (directives.required, asked)
        && required != asked
    {
        return Err(LaunchRefused::OtherCluster { required });
    }
    let Some(cluster) = asked.or(directives.required) else {
        return if directives.explicit { Err(LaunchRefused::NoCluster) } else { Ok(()) };
    };
    let most = directives.max_blocks.unwrap_or(MAX_CLUSTER).min(MAX_CLUSTER);
    let blocks = cluster.iter().map(|&n| u64::from(n)).try_fold(1u64, u64::checked_mul);
    refuse_if!(blocks.is_none_or(|n| n == 0 || n > u64::from(most)), LaunchRefused::ClusterSize { cluster, most });
    if grid.iter().zip(cluster).any(|(&grid, n)| !grid.is_multiple_of(n)) {
        return Err(LaunchRefused::GridOfClusters { cluster });
    }
    Ok(())
}

/// Returns the threads of a block and bytes of its shared memory.
pub(super) fn sizes(kernel: &DecodedKernel, request: &LaunchRequest) -> Result<(u32, u32), LaunchRefused> {
    check(kernel, request, Some(request.dynamic_shared))?;
    let given = request.params.len();
    refuse_if!(given < kernel.param_bytes as usize, LaunchRefused::ParameterBytes { given });
    refuse_if!(kernel.local_bytes > LOCAL_BYTES, LaunchRefused::LargeLocal);
    let shared = kernel
        .shared_dynamic_base
        .checked_add(request.dynamic_shared)
        .filter(|n| *n <= MAX_SHARED_WITH_GAPS)
        .ok_or(LaunchRefused::LargeShared)?;
    let uses_shared = request.dynamic_shared > 0 || !kernel.shared.is_empty();
    Ok((request.block.iter().product(), if uses_shared { shared } else { 0 }))
}

fn beyond(size: [u32; 3], limit: [u32; 3]) -> bool {
    size.iter().zip(limit).any(|(&size, limit)| size > limit)
}
