//! Launches of kernels: options and results.

mod refused;

use std::num::NonZeroUsize;
use std::sync::Arc;

pub use refused::{
    LaunchRefused, MAX_BLOCK, MAX_GRID, MAX_SHARED, MAX_SHARED_OPT_IN, MAX_THREADS, check, check_cluster,
};

pub use crate::exec::launch_job::block_of;
pub use crate::options::{CheckLevel, Environment, LaunchOptions, LaunchRequest, Names, STACK_BYTES};

use crate::check::Collector;
use crate::check::race::{GlobalRaces, unit_shift};
use crate::exec::launch_job::{LaunchJob, cluster_constants};
use crate::occupancy::{self, Footprint};
use crate::report::{Counters, Language, LaunchReport};
use crate::{exec::block::lane_specials, exec::counting};
use crate::{exec::schedule::grid, memory::Memory, module::LoadedKernel};
use program::{DecodedKernel, MemSpace, limits};

/// Alignment of the parameters on the host.
const PARAM_ALIGN: usize = 16;

/// Result of a launch: a report, also when the kernel went wrong.
pub type LaunchResult = Result<LaunchReport, LaunchRefused>;

/// Runs a kernel to its end.
pub fn launch(
    memory: &Memory, loaded: &LoadedKernel, request: &LaunchRequest, environment: Environment<'_>,
) -> LaunchResult {
    let kernel = loaded.kernel();
    let options = &request.options;
    let (n_threads, shared_bytes) = refused::sizes(kernel, request)?;
    let check_level = match (environment.observer, options.check_level) {
        (Some(_), _) => CheckLevel::Count,
        (None, CheckLevel::Checked) if kernel.exchanges.contain(&request.params) => CheckLevel::CheckedWithGlobalRaces,
        (None, check_level) => check_level,
    };
    let launch_bytes = limits::launch_bytes(memory.limit());
    let table = memory.table();
    // Parameters are as aligned here as their addresses are. Machine code reads whole words of them.
    let n_params = if kernel.machine_code { request.params.len().next_multiple_of(4) } else { request.params.len() };
    let mut params = vec![0; n_params + PARAM_ALIGN];
    let start = params.as_ptr().align_offset(PARAM_ALIGN).min(PARAM_ALIGN);
    params[start..start + request.params.len()].copy_from_slice(&request.params);
    let params = &params[start..start + n_params];
    let asked_cluster = options.cluster.or(kernel.cluster.required);
    let cluster = asked_cluster.unwrap_or([1; 3]);
    let mut job = LaunchJob {
        kernel,
        plan: loaded.plan(),
        table: Arc::clone(&table),
        params,
        grid: request.grid,
        block: request.block,
        cluster,
        cluster_blocks: cluster.iter().product(),
        explicit_cluster: asked_cluster.is_some(),
        constants: cluster_constants(kernel, cluster.iter().product()),
        lane_specials: Vec::new(),
        resident: resident(request, n_threads, shared_bytes),
        n_threads,
        n_warps: n_threads.div_ceil(32),
        shared_bytes,
        shared_shift: unit_shift(kernel, MemSpace::Shared),
        global_shift: unit_shift(kernel, MemSpace::Global),
        dynamic_shared: request.dynamic_shared,
        grid_workspace: options.grid_workspace,
        check_level,
        level: arithmetic::cpu_level(),
        environment,
        budget: options.budget,
        local_bytes: if kernel.has_stack { kernel.local_bytes.max(options.stack_bytes) } else { kernel.local_bytes },
        stack_bytes: options.stack_bytes,
        worker_memory: launch_bytes,
        collector: Collector::new(kernel, request.grid, request.block),
    };
    job.lane_specials = lane_specials(&job);
    if let Some(calls) = &kernel.calls {
        // Frames here may take more than a GPU's; where memory does not suffice for that, the stack is as requested.
        let max_local_bytes = u64::from(limits::LOCAL_BYTES);
        job.local_bytes = calls.local_bytes(options.stack_bytes).min(max_local_bytes) as u32;
        if grid::worker_bytes(&job) > launch_bytes {
            let min_local_bytes = u64::from(calls.frame) + u64::from(options.stack_bytes);
            job.local_bytes = job.local_bytes.min(min_local_bytes.min(max_local_bytes) as u32);
        }
    }
    let worker_bytes = grid::worker_bytes(&job);
    refuse_if!(worker_bytes > launch_bytes, LaunchRefused::LargeMemory { asked: worker_bytes, room: launch_bytes });
    let useful = useful_workers(kernel, request, n_threads, check_level);
    let max_workers = useful.min((launch_bytes / worker_bytes) as usize);
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok());
    let n_workers = threads.map_or(1, NonZeroUsize::get).clamp(1, max_workers.max(1));
    job.worker_memory = launch_bytes / n_workers as u64;
    // The blocks of a cluster are ordered by its barrier; races between clusters are not looked for.
    let watches_blocks = check_level == CheckLevel::CheckedWithGlobalRaces && job.cluster_blocks == 1;
    let races = watches_blocks.then(|| {
        let races = GlobalRaces::with_memory(kernel, launch_bytes, max_workers);
        if is_in_order(kernel, request) { races.in_order(kernel) } else { races }
    });
    if check_level.checks() {
        table.begin_launch();
    }
    let mut outcome = grid::run(&job, n_workers, races.as_ref());
    if let Some(races) = races
        && !outcome.stopped
    {
        races.finish(&mut outcome.collector);
    }
    let counted = job.check_level.counts() && !outcome.stopped;
    let counters = if counted {
        counting::by_instruction(kernel, loaded.plan(), &outcome.counts, &outcome.tallies)
    } else {
        vec![Counters::default(); kernel.instrs.len()]
    };
    let mistakes = outcome.collector.finish(kernel, &table, outcome.stopped);
    let mut total = Counters::default();
    counters.iter().for_each(|c| total.add(c));
    let instructions = counting::instructions(kernel, loaded.files(), &counters);
    Ok(LaunchReport {
        kernel: kernel.name.clone(),
        grid: request.grid,
        block: request.block,
        dynamic_shared: request.dynamic_shared,
        code: if kernel.machine_code { Language::Machine } else { Language::Ptx },
        counted,
        checked: job.check_level.checks(),
        total,
        lines: counting::lines(&instructions),
        instructions,
        mistakes,
        printed: outcome.printed,
    })
}

/// Returns the blocks that a device runs at once, at the very most where the registers of a thread are not known.
fn resident(request: &LaunchRequest, threads: u32, shared: u32) -> u64 {
    let registers = request.options.registers.unwrap_or(occupancy::MIN_REGISTERS);
    let per_sm = occupancy::blocks_per_sm(Footprint { threads, registers, shared: shared.into() });
    u64::from(per_sm) * u64::from(occupancy::SMS)
}

/// Returns the worker threads that a launch has work for, on any machine.
fn useful_workers(kernel: &DecodedKernel, request: &LaunchRequest, n_threads: u32, check_level: CheckLevel) -> usize {
    let n_blocks = request.grid.iter().map(|n| u64::from(*n)).product::<u64>();
    // Starting a thread takes as long as a few thousand threads of a small kernel.
    let small = n_blocks * u64::from(n_threads) <= 2048;
    if n_blocks == 1 || small || is_in_order(kernel, request) {
        return 1;
    }
    let max_workers = match check_level {
        CheckLevel::CheckedWithGlobalRaces => limits::WATCHED_BLOCKS,
        _ => limits::WORKERS,
    };
    usize::try_from(n_blocks).map_or(max_workers, |n| n.min(max_workers))
}

/// Returns whether blocks run one after another, in the order of their indices.
fn is_in_order(kernel: &DecodedKernel, request: &LaunchRequest) -> bool {
    kernel.by_index.contain(&request.params) && !request.options.unordered
}
