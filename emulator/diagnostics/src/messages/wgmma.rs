//! Messages about misused `wgmma` (`E-WGMMA`): its registers, shared-memory operands and participating warps.

use crate::launch_context::{Draft, LaunchContext};
use crate::words::count;
use program::tensor::Swizzle;
use simt::check::{AccessKind, BadWgmma, MistakeGroup};

const OLD_REGISTERS: &str = "the `wgmma` may read old values of registers.";

/// Drafts the message of `E-WGMMA`.
pub(crate) fn misuse(launch: &LaunchContext<'_>, mistake: &MistakeGroup, problem: BadWgmma) -> Draft {
    let main_instr = mistake.first.instr;
    let at = |address: u32| launch.name_in_shared(main_instr, address.into(), 2, AccessKind::Read);
    let line = |instr: u32| launch.line_name(main_instr, instr);
    let warp = mistake.first.warp;
    let mut draft = match problem {
        BadWgmma::InFlight { product, writes, factor: is_of_a, behind, left } => {
            let waited = match (behind, left) {
                (None, _) => "its group has not been committed".to_owned(),
                (Some(_), None) => "the warp has not waited for any group".to_owned(),
                (Some(later), Some(left)) => format!(
                    "its group has {} committed after it, and the last wait left {} in flight",
                    count(later.into(), "group"),
                    count(left.into(), "group")
                ),
            };
            let register = if is_of_a { "A" } else { "its accumulators" };
            let line = line(product);
            Draft::new(match (writes, is_of_a) {
                (false, _) => "accumulators of a `wgmma` are read before waiting for it",
                (true, false) => "accumulators of a `wgmma` are overwritten before waiting for it",
                (true, true) => "registers of A are overwritten while a `wgmma` reads them",
            })
            .note(format!("The `wgmma` at {line} is in flight: {waited}. A register of {register} is used here."))
            .why("`wgmma.mma_async` only starts the MMA; its registers belong to it until `wgmma.wait_group` has returned.")
            .advice(
                "close the group with `wgmma.commit_group`, and execute `wgmma.wait_group` with the number of newer \
                 groups that may stay in flight (0 for none) before this line.",
            )
            .on_gpu("the register has the old value or the new one, depending on timing.")
        }
        BadWgmma::NoFence => Draft::new("`wgmma.mma_async` without a preceding `wgmma.fence`")
            .note("The warp has not executed `wgmma.fence` before its first `wgmma`.")
            .why("registers that ordinary instructions wrote are not ordered before the `wgmma` that reads them.")
            .advice(
                "execute `wgmma.fence.sync.aligned` before the first `wgmma`, and again whenever accumulators or \
                 registers of A were written since.",
            )
            .on_gpu(OLD_REGISTERS),
        BadWgmma::WrittenBehindFence { by, factor: is_of_a } => {
            let (title, register) = match is_of_a {
                true => ("registers of A are written after `wgmma.fence`", "A register of A"),
                false => ("accumulators of a `wgmma` are written after `wgmma.fence`", "An accumulator"),
            };
            let line = line(by);
            Draft::new(title)
                .note(format!(
                    "{register} was written at {line}, and the warp has executed no `wgmma.fence` between that and \
                     this `wgmma`."
                ))
                .why(
                    "`wgmma.fence` orders only what was written before it. A `wgmma` that adds to the accumulators of \
                     another one of the same shape needs no fence in between; one that uses what other instructions \
                     wrote does.",
                )
                .advice(format!("execute `wgmma.fence.sync.aligned` between {line} and this `wgmma`."))
                .on_gpu(OLD_REGISTERS)
        }
        BadWgmma::Changed { factor, address, by } => {
            Draft::new(format!("{factor} is overwritten in shared memory while a `wgmma` reads it"))
                .note(match by {
                    Some(by) => format!(
                        "The bulk copy at {}, started by thread {}, writes {}, which the `wgmma` reads; no thread has \
                         waited for the `wgmma`.",
                        line(by.instr),
                        launch.thread_position(u64::from(by.thread)),
                        at(address)
                    ),
                    None => format!("The contents of {} changed before the `wgmma` was waited for.", at(address)),
                })
                .why("a `wgmma` reads shared memory asynchronously, until `wgmma.wait_group` has returned.")
                .advice(
                    "wait for the `wgmma` before its tile is released: first `wgmma.wait_group`, then the barrier (or \
                     the arrival) that lets others overwrite it.",
                )
                .on_gpu("the `wgmma` uses old or new elements, depending on timing.")
        }
        BadWgmma::Outside { factor, start, address, array } => match array {
            (0, 0) => Draft::new(format!("the descriptor of {factor} points outside of shared memory"))
                .note(format!("The operand starts at address {start:#x} of shared memory, where no array is.")),
            (from, to) => Draft::new(format!("the descriptor of {factor} reaches past the array that it starts in"))
                .note(format!(
                    "The operand starts at {}, in an array at addresses {from:#x} to {to:#x}, and one of its parts lies \
                     at {address:#x}.",
                    at(start)
                )),
        }
        .advice(
            "compute the fields of the descriptor from the address in shared memory (`__cvta_generic_to_shared`) and \
             from byte offsets, each divided by 16. A row of the swizzle has 32, 64 or 128 bytes, and eight rows are \
             one step of the stride offset.",
        )
        .on_gpu("the `wgmma` multiplies whatever lies there."),
        BadWgmma::Swizzle { factor, address, copy, by, descriptor } => {
            let bits = match copy {
                Swizzle::None => 0,
                Swizzle::B128 => 1,
                Swizzle::B64 => 2,
                Swizzle::B32 => 3,
            };
            let (line, what, copied, read) = (line(by), at(address), swizzle(copy), swizzle(descriptor));
            Draft::new(format!("{factor} was copied with {copied}, but its descriptor names {read}"))
                .note(format!("The tensor copy at {line} wrote {what} with {copied}; the `wgmma` reads it with {read}."))
                .why("the two place pieces of 16 bytes differently.")
                .advice(format!(
                    "give the descriptor the swizzle of the tensor map: {bits} in its bits 62 and 63. Or encode the map \
                     with the swizzle of the descriptor."
                ))
                .on_gpu("the `wgmma` multiplies elements of other k, or of other rows, and the result is wrong.")
        }
        BadWgmma::Differs { factor, warp, values: [one, other] } => {
            Draft::new(format!("threads of a warpgroup use different descriptors of {factor}"))
                .note(format!("One thread has {one:#x}, and one of warp {warp} has {other:#x}."))
                .advice(
                    "compute descriptors from what all 128 threads share; the hardware chooses the rows of each warp.",
                )
                .on_gpu("the behaviour is undefined.")
        }
        BadWgmma::Rank { factor, rank, leading: [own, first] } => Draft::new(format!(
            "the leading dimension offset in the descriptor of {factor} contains the block's rank"
        ))
        .note(format!(
            "In the block of rank {rank} of the cluster this offset is {own} bytes, in that of rank 0 it is {first}."
        ))
        .why(
            "in a cluster, an address in shared memory has the rank of its block in the bits from 24 on. Divided by 16, \
             they lie in the descriptor's bits from 20 on, which belong to the offset in bits 16 to 29.",
        )
        .advice("keep the low 18 bits of the address before it is divided by 16: `(address & 0x3ffff) >> 4`.")
        .on_gpu("blocks whose rank is not 0 multiply elements from elsewhere, and the result is wrong."),
        BadWgmma::Apart { missing } => {
            let n = missing.count();
            let are = if n == 1 { "is" } else { "are" };
            Draft::new("`wgmma` executed by only part of a warp")
                .note(format!("{} of warp {warp} {are} not here.", count(n.into(), "lane")))
                .advice("let all 128 threads of the warpgroup execute it, without a branch by thread around it.")
                .on_gpu("the behaviour is undefined.")
        }
        BadWgmma::Missing { warps, gone } => {
            part_of_a_warpgroup(warp, launch.threads_per_block().div_ceil(32), warps, gone)
        }
    };
    draft.no_caret = true;
    // The message already names the thread of the copy, or the rank.
    if !matches!(problem, BadWgmma::Changed { by: Some(_), .. } | BadWgmma::Rank { .. }) {
        draft.notes.push(launch.first_thread(mistake));
    }
    draft
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
            "a warpgroup is four neighbouring warps, the first with a number that 4 divides; all 128 threads execute each \
             `wgmma`.",
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
