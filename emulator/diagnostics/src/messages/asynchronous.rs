//! Messages about copies of boxes of tensors, and about barriers in shared memory.

use super::cluster::{block_name, rank_of};
use super::phases::{barrier_name, ended_without};
use crate::launch_context::{Draft, LaunchContext};
use crate::words::{capital, count};
use simt::check::{AccessKind, BadAccess, BadBarrier, BadTensor, MistakeGroup, PhaseOfCopy};
use simt::program::MemSpace;

/// Drafts the message of two bulk copies to one place.
pub(crate) fn two_copies(
    launch: &LaunchContext<'_>,
    kind: &MistakeGroup,
    address: u64,
    ((instr, thread), (barrier, phase)): ((u32, u32), (u32, u64)),
    blocks: Option<[u64; 2]>,
    late: Option<PhaseOfCopy>,
) -> Draft {
    let here = kind.first.instr;
    let what = launch.name_in_shared(here, address, 4, AccessKind::Write);
    let name = barrier_name(launch, here, barrier);
    let line = launch.line_name(here, instr);
    let thread = launch.thread_position(u64::from(thread));
    let mut draft = Draft::new(match late {
        Some(_) => {
            format!("a bulk copy writes {what} while one is under way there that no phase has waited for")
        }
        None => format!("two bulk copies write {what} at the same time"),
    })
    .without_caret();
    let (memory, starter) = match blocks {
        Some([memory, starter]) => (
            format!(
                "Both write to the shared memory of {}. ",
                block_name(launch, memory, rank_of(launch, memory))
            ),
            format!(" of block {}", launch.block_position(starter)),
        ),
        None => (String::new(), String::new()),
    };
    let waited = match late {
        Some(_) => "",
        None => ", and nobody has waited for that",
    };
    draft.notes.push(format!(
        "{memory}The other copy was started by thread {thread}{starter} at {line}; it belongs to phase {phase} of \
         {name}{waited}."
    ));
    draft.notes.push(launch.first_thread(kind));
    draft.on_gpu = Some("the bytes of one copy or the other lie there, depending on timing.".into());
    if let Some(late) = late {
        return draft.reason(ended_without(&name, late, "that copy"));
    }
    draft
        .why("copies that are under way at a time are done in any order.")
        .advice(match blocks {
            Some(_) => "let the places of copies lie apart (as far as a box is large); or start a copy to other blocks of the \
                        cluster only when the threads of each of them have arrived, behind their last read, at a barrier that \
                        the thread that copies waits for.",
            None => "let the places of copies lie apart (as far as a box is large), or start the second copy when the phase of \
                     the first has ended.",
        })
}

/// Drafts the message of an `E-RACE` between a copy out of shared memory and stores to it.
pub(crate) fn changed(launch: &LaunchContext<'_>, kind: &MistakeGroup, address: u64) -> Draft {
    let what = launch.name_in_shared(kind.first.instr, address, 4, AccessKind::Write);
    Draft::new(format!("{what} is written while a bulk copy reads it"))
        .without_caret()
        .note("The copy was started here. Its value changed after that, and before a wait had shown that it was \
               read.")
        .note(launch.first_thread(kind))
        .why("a bulk copy reads shared memory by itself, while threads go on: also those that have yet to write what \
              it is to copy.")
        .advice("start the copy behind a barrier that all who write have passed, and let the thread that started it \
                 wait (cp.async.bulk.wait_group.read) before a barrier behind which others write there again.")
        .on_gpu("old values or new ones are copied, depending on timing.")
}

/// Drafts the message of `E-TENSOR`.
pub(crate) fn tensor(launch: &LaunchContext<'_>, kind: &MistakeGroup, problem: BadTensor) -> Draft {
    let encode = "encode the map with cuTensorMapEncodeTiled, and pass it by value as \
                  `const __grid_constant__ CUtensorMap`, or copy its 128 bytes to global memory.";
    let not_a_map = "copy of a box through something that is no tensor map";
    let (title, note, why, advice) = match problem {
        BadTensor::MapAlign(at) => (
            "copy of a box through a tensor map that is not aligned".to_owned(),
            format!("The map is at {at:#x}; a map starts at a multiple of 64 bytes."),
            None,
            "declare the parameter as `const __grid_constant__ CUtensorMap`, which has this alignment.",
        ),
        BadTensor::MapPlace(at) => (
            not_a_map.to_owned(),
            format!("The address of the map is {at:#x}, where neither parameters nor global memory lie."),
            None,
            "pass the map itself by value as `const __grid_constant__ CUtensorMap`, and take its address in the kernel; a \
             host pointer to it is of no use on the device.",
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
                "copy of a box with {} of a tensor with {}",
                count(given.into(), "coordinate"),
                count(map.into(), "dimension")
            ),
            format!("The map was encoded with tensorRank = {map}; the instruction is `.{given}d`."),
            None,
            "use the instruction of the map's rank.",
        ),
        BadTensor::Column { at, bytes } => (
            "copy of a box that does not start at a multiple of 16 bytes".to_owned(),
            format!(
                "The innermost coordinate is {at}, and an element has {}: the box starts {} bytes into its row.",
                count(bytes.into(), "byte"),
                i64::from(at) * i64::from(bytes)
            ),
            None,
            "let the innermost coordinate be a multiple of 16 bytes; it may be negative or beyond the tensor.",
        ),
        BadTensor::Negative { dimension, at } => (
            "store to a box that begins before the tensor".to_owned(),
            format!("Coordinate {dimension} (0 is the innermost) is {at}."),
            Some("only loads take negative coordinates; stores may reach beyond the far ends alone."),
            "start the box inside of the tensor.",
        ),
        BadTensor::Shared(at) => (
            "copy of a box to or from shared memory that is not aligned to 128 bytes".to_owned(),
            format!("The address in shared memory is {at:#x}, {} bytes behind a multiple of 128.", at % 128),
            None,
            "declare the array with `alignas(128)`, or 1024 for a swizzle of 128 bytes.",
        ),
    };
    let mut draft = Draft::new(title).note(note).note(launch.first_thread(kind));
    draft.why = why.map(str::to_owned);
    draft.advice = Some(advice.into());
    let error = match problem {
        BadTensor::MapAlign(_) | BadTensor::Shared(_) => "misaligned address",
        _ => "illegal instruction",
    };
    draft.on_gpu(format!("the kernel stops with \"{error}\", and the context is lost."))
}

/// The message of `E-OOB`, with the cause where it is a copy of a box: no index of the kernel goes too far there.
pub(crate) fn of_a_box(
    launch: &LaunchContext<'_>,
    kind: &MistakeGroup,
    access: BadAccess,
    draft: Draft,
) -> Draft {
    let is_a_box = launch.mnemonic(kind.first.instr).starts_with("cp.async.bulk.tensor");
    // An atomic access is that of its barrier.
    if !is_a_box || access.kind == AccessKind::Atomic {
        return draft;
    }
    let (why, advice) = match access.space {
        MemSpace::Shared => (
            "the box of the tensor map does not fit in the shared memory behind its place.",
            "reserve room for boxDim elements in each dimension, in rows as long as the swizzle is wide.",
        ),
        _ => (
            "the tensor map describes more memory than there is: its dimensions or strides are not those of the array.",
            "give cuTensorMapEncodeTiled the dimensions of the array, and its strides in bytes.",
        ),
    };
    Draft { why: Some(why.into()), advice: Some(advice.into()), ..draft }
}

/// Drafts the message of `E-MBARRIER`.
pub(crate) fn barrier(
    launch: &LaunchContext<'_>,
    kind: &MistakeGroup,
    offset: u32,
    problem: BadBarrier,
) -> Draft {
    let (title, note, advice) = match problem {
        BadBarrier::NotInitialised { other: None } => (
            "use of a barrier that no mbarrier.init made",
            format!("No barrier is at address {offset:#x} of shared memory."),
            "let one thread initialise each barrier, and __syncthreads() before others use it.",
        ),
        BadBarrier::NotInitialised { other: Some((block, rank)) } => (
            "use of a barrier in another block that no mbarrier.init has made so far",
            format!(
                "It is {} of {}.",
                barrier_name(launch, kind.first.instr, offset),
                block_name(launch, block, rank)
            ),
            "let each block initialise its barriers, and then all blocks of the cluster wait for each other \
             (barrier.cluster.arrive and .wait, cluster.sync()) before one uses a barrier of another: __syncthreads() waits \
             for the own block only.",
        ),
        BadBarrier::NotSynchronised { init_warp } => (
            "use of a barrier that another thread has just initialised",
            format!(
                "A thread of warp {init_warp} initialised {}, and the block has not met at a barrier since.",
                barrier_name(launch, kind.first.instr, offset)
            ),
            "place __syncthreads() between mbarrier.init and the first use by other threads.",
        ),
        BadBarrier::NotFenced => (
            "a bulk copy uses a barrier that no fence has published",
            format!(
                "{} was initialised, and no thread of the block has executed a fence that the copy unit heeds since.",
                capital(&barrier_name(launch, kind.first.instr, offset))
            ),
            "let the thread that initialises barriers execute `fence.mbarrier_init.release.cluster` (or \
             `fence.proxy.async`) after mbarrier.init, before __syncthreads().",
        ),
        BadBarrier::Arrivals(n) => (
            "mbarrier.init with a number of arrivals that no barrier counts",
            format!("It is to wait for {n} arrivals; a barrier waits for 1 to 1048575."),
            "give the number of threads that arrive in each phase.",
        ),
        BadBarrier::TooManyArrivals { arrivals, pending: 0, bytes, .. } if bytes > 0 => (
            "arrival at a barrier whose phase has not ended",
            format!(
                "{} at {}: all arrivals of the phase have come, and {} are still to come.",
                count(arrivals.into(), "arrival"),
                barrier_name(launch, kind.first.instr, offset),
                count(bytes.unsigned_abs(), "byte")
            ),
            "before a thread arrives for the next phase, let it wait until the bytes of this one have come and were read: \
             for a second barrier, at which the readers arrive.",
        ),
        BadBarrier::TooManyArrivals { arrivals, pending, .. } => (
            "more arrivals than the barrier waits for",
            format!(
                "{} at the barrier at address {offset:#x} of shared memory, whose phase waits for {pending} more.",
                count(arrivals.into(), "arrival")
            ),
            "let as many threads arrive in each phase as mbarrier.init said, and wait for its end before the next.",
        ),
        BadBarrier::Completes(n) => (
            "arrival by .noComplete that completes the phase",
            format!(
                "{} at {}, whose phase waits for no more.",
                count(n.into(), "arrival"),
                barrier_name(launch, kind.first.instr, offset)
            ),
            "use mbarrier.arrive without .noComplete where the arrival can be the last of a phase.",
        ),
        BadBarrier::OtherBlock => (
            "a barrier of another block is used as only its own block can",
            format!(
                "The barrier is at address {offset:#x} of the shared memory of another block of the cluster."
            ),
            "let threads of other blocks only arrive, without the result of the arrival, or change its count of bytes.",
        ),
        BadBarrier::TooManyBytes(n) => (
            "a barrier is to wait for more bytes than it counts",
            format!("The phase is to wait for {n} bytes; a barrier counts up to 1048575."),
            "use several barriers, or several phases.",
        ),
    };
    let mut draft =
        Draft::new(title).note(note).note(launch.first_thread(kind)).advice(advice).on_gpu(match problem {
            BadBarrier::OtherBlock => "the kernel stops with \"illegal instruction\".",
            _ => "what happens is not defined: the kernel may hang or stop.",
        });
    if let BadBarrier::TooManyArrivals { again: Some((other, parity)), .. } = problem {
        draft = draft
            .why(format!(
                "this thread has just passed a wait for parity {parity} of {}, which it had passed before by the \
                 same parity: no phase of that barrier has ended in between.",
                barrier_name(launch, kind.first.instr, other),
            ))
            .advice("let the parity that a thread waits for change with each phase of the barrier: 0, 1, 0, 1; a \
                     thread that waits for a place that is free at the start begins with 1.");
    }
    draft
}
