//! Occupancy: the number of blocks that fit on a multiprocessor, and the size of block that fills it best.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering;

use simt::occupancy::{SHARED_UNIT, active_clusters, blocks_per_sm};

use crate::api::function::{footprint, footprint_of, max_threads};
use crate::api::launch::{cluster_dimension, clusters};
use crate::api::ready_for;
use crate::api::{library::function_of, module::Function};
use crate::attributes::limit;
use crate::ffi::{In, Out, export};
use crate::result::*;
use crate::types::{BlockToShared, Handle, LaunchConfigC};

fn clusters_of(function: &Function, config: &LaunchConfigC) -> Outcome<Option<[c_uint; 3]>> {
    // SAFETY: the caller promises as many attributes.
    let attributes = unsafe { In::new(config.attributes.cast_const()).list(config.n_attributes as usize) }?;
    let requested = { attributes.iter().rev() }
        .find(|attribute| attribute.id == crate::cuda_constants::launch::CLUSTER_DIMENSION)
        .and_then(|attribute| cluster_dimension(&attribute.value));
    clusters(function, config.grid, requested).map_err(|_| ERROR_INVALID_CLUSTER_SIZE)
}

fn active_blocks(out: Out<c_int>, handle: Handle, threads: c_int, dynamic: usize) -> Outcome {
    ready_for(out)?;
    let function = function_of(handle)?;
    refuse_if(threads <= 0, ERROR_INVALID_VALUE)?;
    // Launch bounds do not count here, as in the driver.
    let fits = threads as u32 <= limit::THREADS_PER_BLOCK;
    let allowed = dynamic as u64 <= function.max_dynamic_shared.load(Ordering::Relaxed) as u64;
    let blocks = if fits && allowed { blocks_per_sm(footprint(&function, threads as u32, dynamic)) } else { 0 };
    out.put(blocks as c_int)
}

/// Returns the block size with the most threads on a multiprocessor, the largest of those.
fn best_block(
    min_grid: Out<c_int>, block: Out<c_int>, handle: Handle, shared_of: BlockToShared, dynamic: usize, at_most: c_int,
) -> Outcome {
    ready_for(min_grid)?;
    block.check()?;
    let function = function_of(handle)?;
    let mut top = max_threads(&function);
    if at_most > 0 {
        top = top.min(at_most as u32);
    }
    let mut best = (0, 0, 0);
    let mut threads = top.next_multiple_of(32);
    while threads > 0 {
        let size = threads.min(top);
        let shared = match shared_of {
            // SAFETY: the caller promises a function that can be called with any block size.
            Some(shared_of) => unsafe { shared_of(size as c_int) },
            None => dynamic,
        };
        let blocks = blocks_per_sm(footprint(&function, size, shared));
        if blocks * size > best.0 {
            best = (blocks * size, size, blocks);
        }
        threads -= 32;
    }
    block.put(best.1 as c_int)?;
    min_grid.put((best.2 * limit::SMS) as c_int)
}

export! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor 6050(out: Out<c_int>, function: Handle, threads: c_int, dynamic: usize) =
        active_blocks(out, function, threads, dynamic);

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags 7000(
        out: Out<c_int>, function: Handle, threads: c_int, dynamic: usize, flags: c_uint,
    ) {
        refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
        active_blocks(out, function, threads, dynamic)
    }

    fn cuOccupancyMaxPotentialBlockSize 6050(
        min_grid: Out<c_int>, block: Out<c_int>, function: Handle, shared_of: BlockToShared, dynamic: usize,
        at_most: c_int,
    ) =
        best_block(min_grid, block, function, shared_of, dynamic, at_most);

    fn cuOccupancyMaxPotentialBlockSizeWithFlags 7000(
        min_grid: Out<c_int>, block: Out<c_int>, function: Handle, shared_of: BlockToShared, dynamic: usize,
        at_most: c_int, flags: c_uint,
    ) {
        refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
        best_block(min_grid, block, function, shared_of, dynamic, at_most)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock 10020(out: Out<usize>, handle: Handle, blocks: c_int, threads: c_int) {
        ready_for(out)?;
        let function = function_of(handle)?;
        refuse_if(blocks <= 0 || threads <= 0 || threads as u32 > max_threads(&function), ERROR_INVALID_VALUE)?;
        let fit = blocks_per_sm(footprint(&function, threads as u32, 0));
        refuse_if(blocks as u32 > fit, ERROR_INVALID_VALUE)?;
        let taken = limit::SHARED_RESERVED + function.loaded.kernel().shared_static_bytes;
        let block_bytes = limit::SHARED_PER_SM / blocks as u32 / SHARED_UNIT * SHARED_UNIT;
        let free_bytes = block_bytes.saturating_sub(taken);
        // The kernel's own limit holds.
        let max_dynamic = function.max_dynamic_shared.load(Ordering::Relaxed).max(0) as u32;
        out.put(free_bytes.min(max_dynamic) as usize)
    }

    fn cuOccupancyMaxPotentialClusterSize 11070(out: Out<c_int>, handle: Handle, config: In<LaunchConfigC>) {
        ready_for(out)?;
        let function = function_of(handle)?;
        let config = config.get()?;
        clusters_of(&function, &config)?;
        let blocks = blocks_per_sm(footprint_of(&function, config.block, config.shared_bytes));
        // The kernel's declaration makes no difference, as on an H200.
        let max_cluster = match function.nonportable_cluster.load(Ordering::Relaxed) {
            0 => limit::CLUSTER_PORTABLE,
            _ => limit::CLUSTER,
        };
        out.put(if blocks == 0 { 0 } else { max_cluster as c_int })
    }

    fn cuOccupancyMaxActiveClusters 11070(out: Out<c_int>, handle: Handle, config: In<LaunchConfigC>) {
        ready_for(out)?;
        let function = function_of(handle)?;
        let config = config.get()?;
        let cluster = clusters_of(&function, &config)?.ok_or(ERROR_INVALID_CLUSTER_SIZE)?;
        let footprint = footprint_of(&function, config.block, config.shared_bytes);
        out.put(active_clusters(footprint, cluster.iter().product()) as c_int)
    }
}
