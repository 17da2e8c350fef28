use super::*;
use crate::plans::{LARGE, PLANS};

#[test]
fn the_plans_in_use_are_legal() {
    for plan in PLANS {
        assert_eq!(check_plan(&plan), Ok(()), "{}", name(&plan));
    }
}

#[test]
fn most_constants_make_no_kernel() {
    let space = Space::whole();
    assert_eq!((space.n(), space.legal.len(), space.deepest().len()), (86_400, 6578, 1580));
    assert_eq!(space.illegal["tiles without whole warps"], 34_560);
}

#[track_caller]
fn check(change: impl FnOnce(&mut Plan), refused: &str) {
    let mut plan = LARGE;
    change(&mut plan);
    assert_eq!(check_plan(&plan).expect_err("it is illegal").to_string(), refused);
}

#[test]
fn each_rule_is_told_with_its_numbers() {
    let idle = "warps that multiply on a multiprocessor: 1, fewer than its 4 schedulers";
    check(|plan| plan.tile = [32, 128, 16], idle);
    let warps = "the tile is not made of whole warps, which have 32x128 of it";
    check(|plan| plan.tile[0] = 16, warps);
    let rows = "8 rows of a thread are not shared out evenly among 3 slices";
    check(|plan| plan.slices = 3, rows);
    let chunks = "a slice has 4 k of each pair of tiles, and takes 8 at a time";
    check(|plan| plan.slices = 4, chunks);
    let threads = "a block of 2176 threads; at most 1024 are possible";
    check(|plan| plan.thread = [4, 4], threads);
    let groups = "32 threads take registers, which only warpgroups of 128 can";
    check(|plan| (plan.tile, plan.blocks) = ([32, 128, 16], 4), groups);
    let shared = "12 pairs of tiles take 289 KiB of shared memory on a multiprocessor, which has 228";
    check(|plan| plan.stages = 12, shared);
    let registers = "a thread needs more than 416 registers; 240 are there";
    check(|plan| (plan.thread, plan.tile) = ([16, 16], [128, 256, 16]), registers);
    let sums = "a multiprocessor has 65536 elements of C in work; 32768 have a place where shared tiles wait";
    check(|plan| (plan.blocks, plan.stages) = (2, 4), sums);
    let words = "128 producers do not copy whole rows of tiles 256x16 and 16x256";
    check(|plan| (plan.source, plan.tile[1]) = (Source::Words, 256), words);
    let copies = "tiles of 1024 and 128 float4s are not shared out evenly among 512 threads";
    check(
        |plan| {
            (plan.source, plan.producers) = (Source::Threads, 0);
            (plan.tile, plan.thread) = ([256, 32, 16], [4, 4]);
        },
        copies,
    );
}
