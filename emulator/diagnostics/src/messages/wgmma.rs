//! Messages about products of a warpgroup.

use crate::launch_context::{Draft, LaunchContext};
use crate::words::count;
use simt::check::{AccessKind, BadWgmma, MistakeGroup};
use simt::program::tensor::Swizzle;

/// Drafts the message of `E-WGMMA`.
pub(crate) fn product(launch: &LaunchContext<'_>, kind: &MistakeGroup, problem: BadWgmma) -> Draft {
    let here = kind.first.instr;
    let place = |address: u32| launch.name_in_shared(here, address.into(), 2, AccessKind::Read);
    let mut draft = match problem {
        BadWgmma::InFlight { product, writes, factor, behind, left } => {
            let register = if factor { "of A" } else { "of its sums" };
            let title = match (writes, factor) {
                (false, _) => "the sums of a product are read before it was waited for",
                (true, false) => "the sums of a product are overwritten before it was waited for",
                (true, true) => "registers of A are overwritten while a product reads them",
            };
            let waited = match (behind, left) {
                (None, _) => "its group has not been committed".to_owned(),
                (Some(_), None) => "the warp has not waited for any group".to_owned(),
                (Some(behind), Some(left)) => format!(
                    "its group has {} committed behind it, and the last wait left {} under way",
                    count(behind.into(), "group"),
                    count(left.into(), "group")
                ),
            };
            let line = launch.line_name(here, product);
            Draft::new(title)
                .note(format!("The product at {line} is under way: {waited}. A register {register} is used here."))
                .why("`wgmma.mma_async` only starts a product; its registers belong to it until `wgmma.wait_group` \
                      has returned.")
                .advice("close the group with `wgmma.commit_group`, and execute `wgmma.wait_group` with the number \
                         of newer groups that may go on (0 for none) before this line.")
                .on_gpu("the register has the old value or the new one, depending on timing.")
        }
        BadWgmma::NoFence => {
            Draft::new("a product of a warpgroup without `wgmma.fence` before it")
                .note("The warp has not executed `wgmma.fence` before its first product.")
                .why("registers that ordinary instructions wrote are not ordered before the product that reads them.")
                .advice("execute `wgmma.fence.sync.aligned` before the first product, and again whenever registers \
                         of sums or of A were written since.")
                .on_gpu("the product may read old values of registers.")
        }
        BadWgmma::WrittenBehindFence { by, factor } => {
            let (title, register) = match factor {
                true => ("registers of A are written behind `wgmma.fence`", "A register of A"),
                false => ("sums of a product are written behind `wgmma.fence`", "A register of its sums"),
            };
            let mut draft = Draft::new(title);
            let line = launch.line_name(here, by);
            draft.notes.push(format!(
                "{register} was written at {line}, and the warp has executed no `wgmma.fence` between that and this product."
            ));
            draft.why = Some(
                "`wgmma.fence` orders only what was written before it; a product that adds to the sums of another one of the \
                 same shape needs none, and one that other instructions wrote for does."
                    .into(),
            );
            draft.advice =
                Some(format!("execute `wgmma.fence.sync.aligned` between {line} and this product."));
            draft
                .on_gpu("the product may read old values of registers.")
        }
        BadWgmma::Changed { which, address, by } => {
            let draft =
                Draft::new(format!("{which} is overwritten in shared memory while a product reads it"));
            let what = place(address);
            draft
                .note(match by {
                    Some((instr, thread)) => format!(
                        "The bulk copy at {}, started by thread {}, writes {what}, which the product reads; nobody has \
                         waited for the product.",
                        launch.line_name(here, instr),
                        launch.thread_position(u64::from(thread))
                    ),
                    None => format!("What lies at {what} changed before the product was waited for."),
                })
                .why("a product reads shared memory in the background, until `wgmma.wait_group` has returned.")
                .advice("wait for the product before its tile is given back: `wgmma.wait_group` first, then the \
                         barrier (or the arrival) that lets others overwrite it.")
                .on_gpu("the product uses old or new elements, depending on timing.")
        }
        BadWgmma::Outside { which, start, address, array } => {
            Draft::new(match array {
                    (0, 0) => format!("the descriptor of {which} points outside of shared memory"),
                    _ => format!("the descriptor of {which} reaches past the array that it starts in"),
                })
                .note(match array {
                    (0, 0) => format!("The factor starts at address {start:#x} of shared memory, where no array is."),
                    (from, to) => format!(
                        "The factor starts at {}, in an array at addresses {from:#x} to {to:#x}, and one of its parts lies \
                         at {address:#x}.",
                        place(start)
                    ),
                })
                .advice("compute the fields of the descriptor from the address in shared memory \
                         (`__cvta_generic_to_shared`) and from byte offsets, each divided by 16; a row of the \
                         swizzle has 32, 64 or 128 bytes, and eight rows are one step of the stride offset.")
                .on_gpu("the product multiplies whatever lies there.")
        }
        BadWgmma::Swizzle { which, address, copy, by, descriptor } => {
            let mut draft = Draft::new(format!("{which} was copied with {}, and its descriptor says {}", swizzle(copy), swizzle(descriptor)))
                .note(format!(
                    "The copy of a box at {} wrote {} with {}; the product reads it with {}.",
                    launch.line_name(here, by),
                    place(address),
                    swizzle(copy),
                    swizzle(descriptor),
                ))
                .why("both exchange pieces of 16 bytes, and each in its own way.")
                .advice(format!(
                    "give the descriptor the swizzle of the tensor map: {} in its bits 62 and 63; or encode the map \
                     with the swizzle of the descriptor.",
                    match copy {
                    Swizzle::None => 0,
                    Swizzle::B128 => 1,
                    Swizzle::B64 => 2,
                    Swizzle::B32 => 3,
                },
                ));
            draft.on_gpu =
                Some("elements of other k, or of other rows, are multiplied: a wrong result.".into());
            draft
        }
        BadWgmma::Differs { which, warp, values } => {
            let draft =
                Draft::new(format!("threads of a warpgroup name different descriptors of {which}"));
            let [one, other] = values;
            draft
                .note(format!("One thread has {one:#x}, and one of warp {warp} has {other:#x}."))
                .advice("compute descriptors from what all 128 threads share; the rows of each warp are chosen by \
                         the hardware.")
                .on_gpu("what happens is not defined.")
        }
        BadWgmma::Rank { which, rank, leading: [own, first] } => {
            let mut draft = Draft::new(format!("the descriptor of {which} has the block's rank in its leading dimension's offset"))
                .note(format!(
                    "In the block of rank {rank} of the cluster this offset is {own} bytes, in that of rank 0 it is \
                     {first}.",
                ))
                .why("in a cluster, an address in shared memory has the rank of its block in the bits from 24 on; \
                      divided by 16, they lie in the descriptor's bits from 20 on, which belong to the offset in \
                      bits 16 to 29.")
                .advice("keep the low 18 bits of the address before it is divided by 16: `(address & 0x3ffff) >> 4`.");
            draft.on_gpu =
                Some("blocks of other ranks than 0 multiply elements from elsewhere: a wrong result.".into());
            draft
        }
        BadWgmma::Apart { missing } => {
            let draft = Draft::new("a product of a warpgroup that not all lanes of a warp execute");
            let n = missing.count_ones();
            draft
                .note(format!(
                    "{} of warp {} {} not here.",
                    count(n.into(), "lane"),
                    kind.first.warp,
                    if n == 1 { "is" } else { "are" },
                ))
                .advice("let all 128 threads of the warpgroup execute it: no branch around it by thread.")
                .on_gpu("what happens is not defined.")
        }
        BadWgmma::Missing { warps, gone } => {
            let first = kind.first.warp / 4 * 4;
            let list = |mask: u8| {
                let names: Vec<String> =
                    (0..4).filter(|at| mask >> at & 1 == 1).map(|at| (first + at).to_string()).collect();
                names.join(", ")
            };
            let n_warps = launch.threads_per_block().div_ceil(32);
            let absent =
                (0..4).filter(|at| u64::from(first + at) >= n_warps).fold(0, |all, at| all | 1 << at);
            let draft = Draft::new("a product of a warpgroup that not all of its four warps execute");
            let mut note = format!("Warp {} waits for it", kind.first.warp);
            for (some, text) in [
                (warps & absent, "the block has no warp"),
                (gone & !absent, "exited without it: warp"),
                (warps & !gone & !absent, "elsewhere: warp"),
            ] {
                if some != 0 {
                    let plural = if some.count_ones() > 1 { "s" } else { "" };
                    note.push_str(&format!("; {text}{plural} {}", list(some)));
                }
            }
            note.push('.');
            draft
                .note(note)
                .why("a warpgroup is four neighbouring warps, the first with a number that 4 divides; all 128 \
                      threads execute each product.")
                .advice("branch by warpgroup (`threadIdx.x / 128`), not by warp or thread.")
                .on_gpu("the kernel hangs, or stops with an error.")
        }
    };
    draft.no_caret = true;
    // The copy's thread has been named.
    if !matches!(problem, BadWgmma::Changed { by: Some(_), .. } | BadWgmma::Rank { .. }) {
        draft.notes.push(launch.first_thread(kind));
    }
    draft
}

fn swizzle(swizzle: Swizzle) -> &'static str {
    match swizzle {
        Swizzle::None => "no swizzle",
        Swizzle::B32 => "a swizzle of 32 bytes",
        Swizzle::B64 => "a swizzle of 64 bytes",
        Swizzle::B128 => "a swizzle of 128 bytes",
    }
}
