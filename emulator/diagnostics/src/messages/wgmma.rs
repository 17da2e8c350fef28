//! Messages about misused `wgmma` (`E-WGMMA`): its registers, shared-memory operands and participating warps.

use crate::launch_context::{Draft, LaunchContext};
use crate::words::count;
use simt::check::{AccessKind, BadWgmma, MistakeGroup};
use simt::lane_mask::LaneMask;
use simt::program::tensor::Swizzle;

/// Drafts the message of `E-WGMMA`.
pub(crate) fn misuse(launch: &LaunchContext<'_>, mistake: &MistakeGroup, problem: BadWgmma) -> Draft {
    let here = mistake.first.instr;
    let at = |address: u32| launch.name_in_shared(here, address.into(), 2, AccessKind::Read);
    let line = |instr: u32| launch.line_name(here, instr);
    let mut draft = match problem {
        BadWgmma::InFlight { product, writes, factor, behind, left } => {
            in_flight(&line(product), (writes, factor), behind, left)
        }
        BadWgmma::NoFence => no_fence(),
        BadWgmma::WrittenBehindFence { by, factor } => written_after_fence(&line(by), factor),
        BadWgmma::Changed { factor, address, by } => {
            let copy = by.map(|by| (line(by.instr), launch.thread_position(u64::from(by.thread))));
            changed(factor, &at(address), copy)
        }
        BadWgmma::Outside { factor, start, address, array } => match array {
            (0, 0) => outside_of_memory(factor, start),
            bounds => outside_of_array(factor, &at(start), bounds, address),
        },
        BadWgmma::Swizzle { factor, address, copy, by, descriptor } => {
            other_swizzle(factor, &line(by), &at(address), copy, descriptor)
        }
        BadWgmma::Differs { factor, warp, values } => different_descriptors(factor, warp, values),
        BadWgmma::Rank { factor, rank, leading } => rank_in_descriptor(factor, rank, leading),
        BadWgmma::Apart { missing } => part_of_a_warp(mistake.first.warp, missing),
        BadWgmma::Missing { warps, gone } => {
            part_of_a_warpgroup(mistake.first.warp, launch.threads_per_block().div_ceil(32), warps, gone)
        }
    };
    draft.no_caret = true;
    // The message already names the thread of the copy, or the rank.
    if !matches!(problem, BadWgmma::Changed { by: Some(_), .. } | BadWgmma::Rank { .. }) {
        draft.notes.push(launch.first_thread(mistake));
    }
    draft
}

/// Reports that a register of the `wgmma` at `line` is used while that is in flight.
fn in_flight(line: &str, (writes, is_of_a): (bool, bool), later_groups: Option<u32>, left: Option<u32>) -> Draft {
    let register = if is_of_a { "A" } else { "its accumulators" };
    let title = match (writes, is_of_a) {
        (false, _) => "accumulators of a `wgmma` are read before waiting for it",
        (true, false) => "accumulators of a `wgmma` are overwritten before waiting for it",
        (true, true) => "registers of A are overwritten while a `wgmma` reads them",
    };
    let waited = match (later_groups, left) {
        (None, _) => "its group has not been committed".to_owned(),
        (Some(_), None) => "the warp has not waited for any group".to_owned(),
        (Some(later), Some(left)) => format!(
            "its group has {} committed after it, and the last wait left {} in flight",
            count(later.into(), "group"),
            count(left.into(), "group")
        ),
    };
    Draft::new(title)
        .note(format!("The `wgmma` at {line} is in flight: {waited}. A register of {register} is used here."))
        .why(
            "`wgmma.mma_async` only starts the MMA; its registers belong to it until `wgmma.wait_group` has \
              returned.",
        )
        .advice(
            "close the group with `wgmma.commit_group`, and execute `wgmma.wait_group` with the number \
                 of newer groups that may stay in flight (0 for none) before this line.",
        )
        .on_gpu("the register has the old value or the new one, depending on timing.")
}

fn no_fence() -> Draft {
    Draft::new("`wgmma.mma_async` without a preceding `wgmma.fence`")
        .note("The warp has not executed `wgmma.fence` before its first `wgmma`.")
        .why("registers that ordinary instructions wrote are not ordered before the `wgmma` that reads them.")
        .advice(
            "execute `wgmma.fence.sync.aligned` before the first `wgmma`, and again whenever accumulators or \
                 registers of A were written since.",
        )
        .on_gpu(OLD_REGISTERS)
}

const OLD_REGISTERS: &str = "the `wgmma` may read old values of registers.";

/// Reports that a register was written at `line`, after the last fence.
fn written_after_fence(line: &str, is_of_a: bool) -> Draft {
    let (title, register) = match is_of_a {
        true => ("registers of A are written after `wgmma.fence`", "A register of A"),
        false => ("accumulators of a `wgmma` are written after `wgmma.fence`", "An accumulator"),
    };
    Draft::new(title)
        .note(format!(
            "{register} was written at {line}, and the warp has executed no `wgmma.fence` between that and \
             this `wgmma`."
        ))
        .why(
            "`wgmma.fence` orders only what was written before it. A `wgmma` that adds to the accumulators \
              of another one of the same shape needs no fence in between; one that uses what other \
              instructions wrote does.",
        )
        .advice(format!("execute `wgmma.fence.sync.aligned` between {line} and this `wgmma`."))
        .on_gpu(OLD_REGISTERS)
}

/// Reports that operand `factor` changed at the place `what`; `copy` has the line and the thread of the bulk copy that
/// writes there.
fn changed(factor: char, what: &str, copy: Option<(String, String)>) -> Draft {
    Draft::new(format!("{factor} is overwritten in shared memory while a `wgmma` reads it"))
        .note(match copy {
            Some((line, thread)) => format!(
                "The bulk copy at {line}, started by thread {thread}, writes {what}, which the `wgmma` \
                 reads; no thread has waited for the `wgmma`."
            ),
            None => format!("The contents of {what} changed before the `wgmma` was waited for."),
        })
        .why("a `wgmma` reads shared memory asynchronously, until `wgmma.wait_group` has returned.")
        .advice(
            "wait for the `wgmma` before its tile is released: first `wgmma.wait_group`, then the \
                 barrier (or the arrival) that lets others overwrite it.",
        )
        .on_gpu("the `wgmma` uses old or new elements, depending on timing.")
}

fn outside_of_memory(factor: char, start: u32) -> Draft {
    outside(
        format!("the descriptor of {factor} points outside of shared memory"),
        format!("The operand starts at address {start:#x} of shared memory, where no array is."),
    )
}

fn outside_of_array(factor: char, start: &str, (from, to): (u32, u32), address: u32) -> Draft {
    outside(
        format!("the descriptor of {factor} reaches past the array that it starts in"),
        format!(
            "The operand starts at {start}, in an array at addresses {from:#x} to {to:#x}, and one of its \
             parts lies at {address:#x}."
        ),
    )
}

fn outside(title: String, note: String) -> Draft {
    Draft::new(title)
        .note(note)
        .advice(
            "compute the fields of the descriptor from the address in shared memory \
                 (`__cvta_generic_to_shared`) and from byte offsets, each divided by 16. A row of the \
                 swizzle has 32, 64 or 128 bytes, and eight rows are one step of the stride offset.",
        )
        .on_gpu("the `wgmma` multiplies whatever lies there.")
}

/// Drafts the message of a tensor copy at `line` to `what` whose swizzle differs from the descriptor's.
fn other_swizzle(factor: char, line: &str, what: &str, copy: Swizzle, descriptor: Swizzle) -> Draft {
    let bits = match copy {
        Swizzle::None => 0,
        Swizzle::B128 => 1,
        Swizzle::B64 => 2,
        Swizzle::B32 => 3,
    };
    let (copied, read) = (swizzle(copy), swizzle(descriptor));
    Draft::new(format!("{factor} was copied with {copied}, but its descriptor names {read}"))
        .note(format!("The tensor copy at {line} wrote {what} with {copied}; the `wgmma` reads it with {read}."))
        .why("the two place pieces of 16 bytes differently.")
        .advice(format!(
            "give the descriptor the swizzle of the tensor map: {bits} in its bits 62 and 63. Or encode the \
             map with the swizzle of the descriptor."
        ))
        .on_gpu("the `wgmma` multiplies elements of other k, or of other rows, and the result is wrong.")
}

fn different_descriptors(factor: char, warp: u32, [one, other]: [u64; 2]) -> Draft {
    Draft::new(format!("threads of a warpgroup use different descriptors of {factor}"))
        .note(format!("One thread has {one:#x}, and one of warp {warp} has {other:#x}."))
        .advice(
            "compute descriptors from what all 128 threads share; the hardware chooses the rows of each \
                 warp.",
        )
        .on_gpu("the behaviour is undefined.")
}

fn rank_in_descriptor(factor: char, rank: u32, [own, first]: [u32; 2]) -> Draft {
    Draft::new(format!("the leading dimension offset in the descriptor of {factor} contains the block's rank"))
        .note(format!(
            "In the block of rank {rank} of the cluster this offset is {own} bytes, in that of rank 0 it is \
             {first}."
        ))
        .why(
            "in a cluster, an address in shared memory has the rank of its block in the bits from 24 on. \
              Divided by 16, they lie in the descriptor's bits from 20 on, which belong to the offset in \
              bits 16 to 29.",
        )
        .advice("keep the low 18 bits of the address before it is divided by 16: `(address & 0x3ffff) >> 4`.")
        .on_gpu("blocks whose rank is not 0 multiply elements from elsewhere, and the result is wrong.")
}

fn part_of_a_warp(warp: u32, missing: LaneMask) -> Draft {
    let n = missing.count();
    Draft::new("`wgmma` executed by only part of a warp")
        .note(format!("{} of warp {warp} {} not here.", count(n.into(), "lane"), if n == 1 { "is" } else { "are" }))
        .advice("let all 128 threads of the warpgroup execute it, without a branch by thread around it.")
        .on_gpu("the behaviour is undefined.")
}

/// Reports that warp `warp` waits for its warpgroup. `missing` and `gone` have a bit for each of the four warps: those
/// that do not execute the `wgmma`, and of these the ones that have exited or that the block of `n_warps` does not
/// have.
fn part_of_a_warpgroup(warp: u32, n_warps: u64, missing: u8, gone: u8) -> Draft {
    let first = warp / 4 * 4;
    let list = |mask: u8| {
        let names: Vec<String> = (0..4).filter(|at| mask >> at & 1 == 1).map(|at| (first + at).to_string()).collect();
        names.join(", ")
    };
    let absent = (0..4).filter(|at| u64::from(first + at) >= n_warps).fold(0, |all, at| all | 1 << at);
    let mut note = format!("Warp {warp} waits for it");
    for (some, text) in [
        (missing & absent, "the block has no warp"),
        (gone & !absent, "exited without it: warp"),
        (missing & !gone & !absent, "elsewhere: warp"),
    ] {
        if some != 0 {
            let plural = if some.count_ones() > 1 { "s" } else { "" };
            note.push_str(&format!("; {text}{plural} {}", list(some)));
        }
    }
    note.push('.');
    Draft::new("`wgmma` executed by only part of a warpgroup")
        .note(note)
        .why(
            "a warpgroup is four neighbouring warps, the first with a number that 4 divides; all 128 \
              threads execute each `wgmma`.",
        )
        .advice("branch by warpgroup (`threadIdx.x / 128`), not by warp or thread.")
        .on_gpu("the kernel hangs, or stops with an error.")
}

fn swizzle(swizzle: Swizzle) -> &'static str {
    match swizzle {
        Swizzle::None => "no swizzle",
        Swizzle::B32 => "a swizzle of 32 bytes",
        Swizzle::B64 => "a swizzle of 64 bytes",
        Swizzle::B128 => "a swizzle of 128 bytes",
    }
}
