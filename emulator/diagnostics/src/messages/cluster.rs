//! Messages about clusters (`E-CLUSTER`): shared memory of other blocks, and the barrier of the cluster.

use program::{MemSpace, RANK_SHIFT};
use simt::check::{AccessKind, AccessProblem, BadAccess, Elsewhere, MistakeGroup, RemoteProblem};

use crate::launch_context::{Draft, LaunchContext};
use crate::words::{count, list};
use crate::{locate::case::noun, messages::sync::thread_count};

/// Returns the target of an access to another block's shared memory: offset and rank.
pub(crate) fn remote(access: &BadAccess) -> Option<(u64, u32)> {
    let tag = access.address >> RANK_SHIFT;
    let is_remote = !cfg!(feature = "scalar") && access.space == MemSpace::Shared && (1..=0x100).contains(&tag);
    is_remote.then(|| (access.address & ((1 << RANK_SHIFT) - 1), tag as u32 - 1))
}

/// Returns the element as code, `` `tile[3]` ``, or its address.
fn element_name(launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: &BadAccess, offset: u64) -> String {
    let target = launch.target(mistake.first.instr, MemSpace::Shared, offset, access.bytes, access.kind);
    match target.filter(|target| target.named) {
        Some(target) => format!("`{}`", target.indexed()),
        None => format!("address {offset:#x}"),
    }
}

/// Returns a block with its rank: `block (1,0) (rank 1 of the cluster)`.
pub(crate) fn block_name(launch: &LaunchContext<'_>, block: u64, rank: u32) -> String {
    format!("block {} (rank {rank} of the cluster)", launch.block_position(block))
}

/// Returns the linear index of the block with a rank in the cluster of another block.
fn block_of(launch: &LaunchContext<'_>, own: u64, rank: u32) -> u64 {
    let cluster = launch.cluster();
    let [x, y, _] = launch.inputs.request.grid.map(|n| u64::from(n.max(1)));
    let rank = u64::from(rank);
    let first = |at: u64, n: u64| at / n * n;
    let bx = first(own % x, cluster[0]) + rank % cluster[0];
    let by = first(own / x % y, cluster[1]) + rank / cluster[0] % cluster[1];
    let bz = first(own / x / y, cluster[2]) + rank / cluster[0] / cluster[1];
    (bz * y + by) * x + bx
}

pub(crate) fn rank_of(launch: &LaunchContext<'_>, block: u64) -> u32 {
    (0..256).find(|rank| block_of(launch, block, *rank) == block).unwrap_or(0)
}

/// Returns a sentence on the first thread and its block: `First: thread (0,0) of block (2,0). Block (2,0) has rank 0 in
/// its cluster.`
fn first(launch: &LaunchContext<'_>, mistake: &MistakeGroup) -> String {
    let block = mistake.first.block;
    let rank = rank_of(launch, block);
    let position = launch.block_position(block);
    format!("{} Block {position} has rank {rank} in its cluster.", launch.first_thread(mistake))
}

/// Drafts the message of an access to a block that cannot be reached.
pub(crate) fn unreachable(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess, problem: RemoteProblem,
) -> Draft {
    let offset = access.address & ((1 << RANK_SHIFT) - 1);
    let element = element_name(launch, mistake, &access, offset);
    let verb = noun(access.kind);
    match problem {
        RemoteProblem::Ended { rank, block, exit } => {
            let mut draft = Draft::new(format!("{verb} of shared memory of a block that has exited"));
            let name = block_name(launch, block, rank);
            draft.notes.push(format!("It goes to {element} of {name}; all threads of that block have exited."));
            draft.notes.push(first(launch, mistake));
            if let Some(exit) = exit.filter(|exit| launch.line(*exit).0 > 0) {
                let line = launch.line_name(mistake.first.instr, exit);
                draft.notes.push(format!("Threads of that block exited at {line}."));
            }
            draft = draft
                .why("shared memory ends with its block, and nothing lets that block wait for this access.")
                .advice(
                    "let all blocks of the cluster wait for each other (barrier.cluster.arrive and .wait, \
                         cluster.sync()) after the last access to another block's shared memory.",
                );
            let then = match access.kind {
                AccessKind::Read => "an H200 stops the kernel with \"unspecified launch failure\".",
                AccessKind::Write => "an H200 goes on without an error, and the write is lost.",
                AccessKind::Atomic => "the kernel may stop, or change other data.",
            };
            draft.on_gpu(format!("the outcome depends on timing: once the block has exited, {then}"))
        }
        RemoteProblem::NotOwn { rank } => {
            let draft = Draft::new(format!(
                "{verb} of another block's shared memory by an instruction that reaches only the block's own"
            ));
            let name = block_name(launch, block_of(launch, mistake.first.block, rank), rank);
            draft
                .note(format!("Its address is that of {element} of {name}."))
                .note(first(launch, mistake))
                .why(
                    "in a cluster, an address in shared memory has the rank of its block in the bits from \
                      24 on, also the block's own; `.shared` without `::cluster` reaches the block's own \
                      memory only.",
                )
                .advice(
                    "name `.shared::cluster` in the instruction, or use a generic pointer \
                         (cluster.map_shared_rank). Where the block's own memory is meant, take its address \
                         without mapa, and with all its bits.",
                )
                .on_gpu("the kernel stops with \"illegal instruction\".")
        }
        RemoteProblem::NoBlock { rank, blocks } => {
            let draft = Draft::new(format!("{verb} of shared memory of a block that the cluster does not have"));
            let ranks = match blocks {
                1 => "the launch has no clusters: each block is one by itself, of rank 0".to_owned(),
                _ => format!("the cluster has {blocks} blocks, with the ranks 0 to {}", blocks - 1),
            };
            draft
                .note(format!("It goes to {element} of rank {rank}; {ranks}."))
                .note(first(launch, mistake))
                .advice(match blocks {
                    1 => {
                        "launch it in clusters: give the kernel `__cluster_dims__(…)`, or the launch the attribute \
                         CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION."
                    }
                    _ => {
                        "give mapa (cluster.map_shared_rank) a rank below %cluster_nctarank \
                         (cluster.num_blocks()): a rank counts the blocks of one cluster, blockIdx those of the grid."
                    }
                })
                .on_gpu(match blocks {
                    1 => "an H100 stops the kernel with \"illegal instruction\".",
                    _ => "an H100 stops the kernel with \"unspecified launch failure\".",
                })
        }
    }
}

/// Drafts the message of an access outside of the arrays of another block, or that is not aligned there.
pub(crate) fn misplaced(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, problem: AccessProblem, access: BadAccess,
    (offset, rank): (u64, u32),
) -> Draft {
    let verb = noun(access.kind);
    let name = block_name(launch, block_of(launch, mistake.first.block, rank), rank);
    let element = element_name(launch, mistake, &access, offset);
    match problem {
        AccessProblem::Misaligned => Draft::new(format!(
            "{}-byte {verb} in another block's shared memory at an address that is not a multiple of that",
            access.bytes
        )),
        _ => Draft::new(format!("{verb} past the end of an array in another block's shared memory")).on_gpu(
            "past the end of that block's shared memory, the kernel stops with \"illegal memory access\"; before that, the \
             access hits other data.",
        ),
    }
    .note(format!("It goes to {element} of {name}."))
    .note(first(launch, mistake))
}

/// Drafts the message of a read of shared memory that its block has not written.
pub(crate) fn unwritten(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess, (offset, rank): (u64, u32),
) -> Draft {
    let name = block_name(launch, block_of(launch, mistake.first.block, rank), rank);
    let element = element_name(launch, mistake, &access, offset);
    Draft::new("read of another block's shared memory that has not been written")
        .note(format!("It reads {element} of {name}, which has not been written yet."))
        .note(first(launch, mistake))
        .advice(
            "let the block write it first, and all blocks of the cluster wait for each other \
                 (barrier.cluster.arrive and .wait, cluster.sync()) before they read.",
        )
        .on_gpu("the value is whatever an earlier kernel left there, or what the block has written by then.")
}

/// Drafts the message of `barrier.cluster` out of turn.
pub(crate) fn out_of_turn(launch: &LaunchContext<'_>, mistake: &MistakeGroup, waits: bool) -> Draft {
    let title = match waits {
        true => "barrier.cluster.wait without barrier.cluster.arrive before it",
        false => "barrier.cluster.arrive again, without barrier.cluster.wait in between",
    };
    Draft::new(title)
        .note(first(launch, mistake))
        .advice("let each thread alternate arrive and wait.")
        .on_gpu("the behaviour is undefined; an H200 goes on without an error, and does not wait.")
}

/// Drafts the message of a cluster in which no thread can go on.
pub(crate) fn deadlock(launch: &LaunchContext<'_>, mistake: &MistakeGroup, places: &[Elsewhere]) -> Draft {
    let draft = Draft::new("threads of a cluster wait for each other forever");
    let main_instr = mistake.first.instr;
    let describe = |place: &Elsewhere| {
        let at = match (place.at_cluster_barrier, place.group.at_barrier) {
            (true, _) => "wait for the cluster",
            (_, true) => "wait at a barrier of their block",
            _ => "wait for other threads",
        };
        format!(
            "{} of {} {at} at {}",
            count(thread_count(&place.group), "thread"),
            block_name(launch, place.block, place.rank),
            launch.line_name(main_instr, place.group.instr)
        )
    };
    let shown: Vec<String> = places.iter().take(6).map(describe).collect();
    draft
        .note(format!("{}.", list(&shown)))
        .why(
            "barrier.cluster.wait goes on when all threads of all blocks of the cluster have arrived or \
              exited.",
        )
        .advice("let all threads of all blocks of the cluster reach the same barriers in the same order.")
        .on_gpu("the kernel hangs.")
}
