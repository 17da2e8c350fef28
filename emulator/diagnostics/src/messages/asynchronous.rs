//! Messages about tensor copies (`E-TENSOR`), mbarriers (`E-MBARRIER`), and bulk copies that race (`E-RACE`).

use super::cluster::{block_name, rank_of};
use super::phases::{barrier_name, ended_without};
use crate::launch_context::{Draft, LaunchContext};
use crate::words::{capital, count};
use program::MemSpace;
use simt::check::{AccessKind, BadAccess, BadBarrier, BadTensor, InstrThread, MistakeGroup, PhaseId, PhaseOfCopy};

/// Drafts the message of two bulk copies to one place.
pub(crate) fn two_copies(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, address: u64, other: InstrThread, phase: PhaseId,
    blocks: Option<[u64; 2]>, late: Option<PhaseOfCopy>,
) -> Draft {
    let main_instr = mistake.first.instr;
    let what = launch.name_in_shared(main_instr, address, 4, AccessKind::Write);
    let name = barrier_name(launch, main_instr, phase.barrier);
    let line = launch.line_name(main_instr, other.instr);
    let thread = launch.thread_position(u64::from(other.thread));
    let draft = Draft::new(match late {
        Some(_) => format!(
            "a bulk copy writes {what} while an earlier copy to it, whose phase has completed without it, is in flight"
        ),
        None => format!("two bulk copies write {what} at the same time"),
    })
    .without_caret();
    let (memory, starter) = match blocks {
        Some([memory, starter]) => (
            format!("Both write to the shared memory of {}. ", block_name(launch, memory, rank_of(launch, memory))),
            format!(" of block {}", launch.block_position(starter)),
        ),
        None => (String::new(), String::new()),
    };
    let waited = if late.is_some() { "" } else { ", which no thread has waited for" };
    let number = phase.number;
    let draft = draft
        .note(format!(
            "{memory}The other copy was started by thread {thread}{starter} at {line}; it belongs to phase {number} of \
             {name}{waited}."
        ))
        .note(launch.first_thread(mistake))
        .on_gpu("the bytes of one copy or the other lie there, depending on timing.");
    if let Some(late) = late {
        return draft.reason(ended_without(&name, late, "that copy"));
    }
    draft.why("bulk copies that are in flight at the same time complete in any order.").advice(match blocks {
        Some(_) => {
            "give the copies destinations that do not overlap (each as large as its box). Or start a copy to other blocks \
             of the cluster only after the threads of each of them have arrived, after their last read, at an mbarrier \
             that the copying thread waits for."
        }
        None => {
            "give the copies destinations that do not overlap (each as large as its box). Or start the second copy after \
             the phase of the first has completed."
        }
    })
}

/// Drafts the message of an `E-RACE` between a copy out of shared memory and stores to it.
pub(crate) fn changed(launch: &LaunchContext<'_>, mistake: &MistakeGroup, address: u64) -> Draft {
    let what = launch.name_in_shared(mistake.first.instr, address, 4, AccessKind::Write);
    Draft::new(format!("{what} is written while a bulk copy reads it"))
        .without_caret()
        .note(
            "The copy was started here. The value changed after that, and before a wait showed that the \
               copy had read it.",
        )
        .note(launch.first_thread(mistake))
        .why(
            "a bulk copy reads shared memory asynchronously: threads go on meanwhile, including those that \
              have yet to write what it copies.",
        )
        .advice(
            "start the copy after a barrier that every writing thread has passed. Let the thread that \
                 started it wait (cp.async.bulk.wait_group.read) before the barrier after which others write \
                 there again.",
        )
        .on_gpu("old values or new ones are copied, depending on timing.")
}

pub(crate) fn tensor(launch: &LaunchContext<'_>, mistake: &MistakeGroup, problem: BadTensor) -> Draft {
    let encode = "encode the map with cuTensorMapEncodeTiled, and pass it by value as \
                  `const __grid_constant__ CUtensorMap`, or copy its 128 bytes to global memory.";
    let not_a_map = "tensor copy through an invalid tensor map";
    let (title, note, why, advice) = match problem {
        BadTensor::MapAlign(at) => (
            "tensor copy through a misaligned tensor map".to_owned(),
            format!("The map is at {at:#x}; a map starts at a multiple of 64 bytes."),
            None,
            "declare the parameter as `const __grid_constant__ CUtensorMap`, which has this alignment.",
        ),
        BadTensor::MapPlace(at) => (
            not_a_map.to_owned(),
            format!("The address of the map, {at:#x}, is in neither parameter nor global memory."),
            None,
            "pass the map itself by value as `const __grid_constant__ CUtensorMap`, and take its address in \
             the kernel; a host pointer is not valid on the device.",
        ),
        BadTensor::Zeros(at) => (
            not_a_map.to_owned(),
            format!("The 128 bytes at {at:#x} are zeros."),
            Some("the map was never encoded, or the encoding failed and its error was ignored."),
            encode,
        ),
        BadTensor::Changed(at) => (
            not_a_map.to_owned(),
            format!("A tensor map was at {at:#x}, and some of its 128 bytes were changed."),
            Some("the contents of a tensor map are opaque: only the driver writes them."),
            encode,
        ),
        BadTensor::NoMap(at) => (
            not_a_map.to_owned(),
            format!("The 128 bytes at {at:#x} are not what cuTensorMapEncodeTiled writes."),
            None,
            encode,
        ),
        BadTensor::Rank { map, given } => (
            format!(
                "tensor copy with {} of a tensor with {}",
                count(given.into(), "coordinate"),
                count(map.into(), "dimension")
            ),
            format!("The map was encoded with tensorRank = {map}; the instruction is `.{given}d`."),
            None,
            "use the instruction for the map's rank.",
        ),
        BadTensor::Column { at, bytes } => (
            "tensor copy that does not start at a multiple of 16 bytes".to_owned(),
            format!(
                "The innermost coordinate is {at}, and an element has {}: the box starts {} bytes into its \
                 row.",
                count(bytes.into(), "byte"),
                i64::from(at) * i64::from(bytes)
            ),
            None,
            "make the innermost coordinate a multiple of 16 bytes; it may be negative or beyond the tensor.",
        ),
        BadTensor::Negative { dimension, at } => (
            "tensor store to a box that begins before the tensor".to_owned(),
            format!("Coordinate {dimension} (0 is the innermost) is {at}."),
            Some("only loads take negative coordinates; a store may extend past the far ends only."),
            "start the box inside the tensor.",
        ),
        BadTensor::Shared(at) => (
            "tensor copy with a shared-memory address that is not 128-byte aligned".to_owned(),
            format!("The address in shared memory is {at:#x}, {} bytes past a multiple of 128.", at % 128),
            None,
            "declare the array with `alignas(128)`, or with `alignas(1024)` for a swizzle of 128 bytes.",
        ),
    };
    let mut draft = Draft::new(title).note(note).note(launch.first_thread(mistake)).advice(advice);
    draft.why = why.map(str::to_owned);
    let error = match problem {
        BadTensor::MapAlign(_) | BadTensor::Shared(_) => "misaligned address",
        _ => "illegal instruction",
    };
    draft.on_gpu(format!("the kernel stops with \"{error}\", and the context is lost."))
}

/// Adds the cause to an `E-OOB` draft where a tensor copy made the access: the box is wrong, not an index.
pub(crate) fn of_a_box(launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess, draft: Draft) -> Draft {
    let is_tensor_copy = launch.mnemonic(mistake.first.instr).starts_with("cp.async.bulk.tensor");
    // An atomic access is the one to the copy's mbarrier.
    if !is_tensor_copy || access.kind == AccessKind::Atomic {
        return draft;
    }
    let (why, advice) = match access.space {
        MemSpace::Shared => (
            "the box of the tensor map does not fit into the shared memory that follows its address.",
            "reserve room for boxDim elements in each dimension, in rows as long as the swizzle is wide.",
        ),
        _ => (
            "the tensor map describes more memory than there is: its dimensions or strides are not those of \
             the array.",
            "give cuTensorMapEncodeTiled the dimensions of the array, and its strides in bytes.",
        ),
    };
    draft.why(why).advice(advice)
}

/// Drafts the message of `E-MBARRIER`.
pub(crate) fn barrier(launch: &LaunchContext<'_>, mistake: &MistakeGroup, offset: u32, problem: BadBarrier) -> Draft {
    let main_instr = mistake.first.instr;
    let name = barrier_name(launch, main_instr, offset);
    let (title, note, advice) = match problem {
        BadBarrier::NotInitialised { other: None } => (
            "use of an mbarrier that was not initialised",
            format!("There is no mbarrier at address {offset:#x} of shared memory."),
            "let one thread initialise each mbarrier, and call __syncthreads() before others use it.",
        ),
        BadBarrier::NotInitialised { other: Some((block, rank)) } => (
            "use of another block's mbarrier that has not been initialised yet",
            format!("It is {name} of {}.", block_name(launch, block, rank)),
            "let each block initialise its mbarriers, then let all blocks of the cluster wait for each other \
             (barrier.cluster.arrive and .wait, cluster.sync()) before one uses an mbarrier of another. \
             __syncthreads() waits for the threads of one block only.",
        ),
        BadBarrier::NotSynchronised { init_warp } => (
            "use of an mbarrier that another thread has just initialised",
            format!("A thread of warp {init_warp} initialised {name}, and the block has passed no barrier since."),
            "add __syncthreads() between mbarrier.init and the first use by other threads.",
        ),
        BadBarrier::NotFenced => (
            "a bulk copy uses an mbarrier whose initialisation no fence has made visible",
            format!(
                "{} was initialised, and since then no thread of the block has executed a fence that makes \
                 this visible to the async proxy.",
                capital(&name)
            ),
            "let the thread that initialises mbarriers execute `fence.mbarrier_init.release.cluster` (or \
             `fence.proxy.async`) after mbarrier.init, before __syncthreads().",
        ),
        BadBarrier::NotShared(address) => (
            "an mbarrier outside shared memory",
            format!("The address is {address:#x}, which is not in the shared memory of the block."),
            "declare the mbarrier `__shared__`, and give its address.",
        ),
        BadBarrier::Arrivals(n) => (
            "mbarrier.init with an arrival count that is out of range",
            format!("The count is {n}; an mbarrier takes 1 to 1048575."),
            "give the number of threads that arrive in each phase.",
        ),
        BadBarrier::TooManyArrivals { arrivals, pending: 0, bytes, .. } if bytes > 0 => (
            "arrival at an mbarrier whose phase has not completed",
            format!(
                "{} at {name}: all arrivals of this phase are in, but {} are still outstanding.",
                count(arrivals.into(), "arrival"),
                count(bytes.unsigned_abs(), "byte")
            ),
            "before a thread arrives for the next phase, let it wait until the bytes of this one have \
             arrived and have been read: at a second mbarrier, at which the readers arrive.",
        ),
        BadBarrier::TooManyArrivals { arrivals, pending, .. } => (
            "more arrivals than the mbarrier expects",
            format!(
                "{} at the mbarrier at address {offset:#x} of shared memory, whose phase expects {pending} \
                 more.",
                count(arrivals.into(), "arrival")
            ),
            "let as many threads arrive in each phase as mbarrier.init announced, and wait until it \
             completes before the next.",
        ),
        BadBarrier::Completes(n) => (
            "a .noComplete arrival that completes the phase",
            format!("{} at {name}, whose phase expects no more.", count(n.into(), "arrival")),
            "use mbarrier.arrive without .noComplete where the arrival can be the last of a phase.",
        ),
        BadBarrier::OtherBlock => (
            "an operation on another block's mbarrier that only its own block can perform",
            format!("The mbarrier is at address {offset:#x} of the shared memory of another block of the cluster."),
            "use only arrivals (without a result) and changes of the expected byte count from other blocks.",
        ),
        BadBarrier::TooManyBytes(n) => (
            "an mbarrier phase expects more bytes than it can count",
            format!("The phase expects {n} bytes; an mbarrier counts up to 1048575."),
            "use several mbarriers, or several phases.",
        ),
        BadBarrier::Overwritten { used } => (
            match launch.mnemonic(main_instr).starts_with("cp.async.bulk") {
                true => "a bulk copy overwrites an mbarrier that is used later",
                false => "a store overwrites an mbarrier that is used later",
            },
            format!(
                "It writes to {}, which was initialised before and is used at {}.",
                barrier_name(launch, used, offset),
                launch.outer_line(main_instr, used)
            ),
            "keep what is written here inside of its own array: an index, a size or an address is wrong. Where the memory \
             is to hold something else from here on, execute mbarrier.inval first.",
        ),
        BadBarrier::Token { token, phase } => (
            "a wait for an mbarrier with a token that no arrival at it returned",
            format!("The token is {token:#x}; {name} is in phase {phase}."),
            match token {
                0 | 1 => {
                    "give the wait what mbarrier.arrive returned to this thread. If the value is a parity, use the \
                          instruction that takes one: mbarrier.try_wait.parity."
                }
                _ => "give the wait what mbarrier.arrive returned to this thread, unchanged and for the same mbarrier.",
            },
        ),
    };
    let mut draft =
        Draft::new(title).note(note).note(launch.first_thread(mistake)).advice(advice).on_gpu(match problem {
            BadBarrier::OtherBlock | BadBarrier::NotShared(_) => "the kernel stops with \"illegal instruction\".",
            BadBarrier::Token { .. } | BadBarrier::Overwritten { .. } => {
                "the behaviour is undefined: a wait may return too early, or never."
            }
            _ => "the behaviour is undefined: the kernel may hang or stop.",
        });
    if let BadBarrier::TooManyArrivals { again: Some((other, parity)), .. } = problem {
        draft = draft
            .why(format!(
                "this thread has just passed a wait for parity {parity} of {}, and had passed an earlier \
                 wait with the same parity: no phase of that mbarrier has completed in between.",
                barrier_name(launch, main_instr, other),
            ))
            .advice(
                "change the parity that a thread waits for with each phase of the mbarrier: 0, 1, 0, 1. \
                     A thread that waits for a slot that is free at the start begins with 1.",
            );
    }
    draft
}
