//! Clusters and distributed shared memory, used the same way on a GPU and on the emulator.
//!
//! Each case is a kernel of a few lines that every thread executes, and what thread 0 of each block sees. The example
//! `clusters_on_device` asks a GPU; `it/steps.rs` asks the emulator. The answers are what the PTX manual defines,
//! and what an H200 gave (driver 580.159.04, 2026-11-23); but it was not asked for "bytes of a barrier of the next
//! block" as it is now.

use std::fmt::Write as _;

/// Words of the result of each block.
pub const SEEN: usize = 8;
pub const BLOCKS: usize = 8;
/// Words of global memory: each holds its number.
pub const WORDS: usize = 64;
/// Content of a word of the result before a block writes it.
pub const UNSEEN: u32 = 0xFFFF_FFFF;

#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// Blocks of a cluster in x, y and z; `None`: a launch without.
    pub cluster: Option<[u32; 3]>,
    /// Blocks in x, y and z; 32 threads each.
    pub grid: [u32; 3],
    /// PTX instructions separated by `; `, and `see R` (thread 0 of the block sees a register), `sync` (all threads of
    /// the cluster wait for each other), `one` … `all` (only thread 0 executes what stands between), `wait PARITY` (for
    /// the block's own barrier).
    ///
    /// Registers: `%r1` thread, `%r2` block of the grid, `%r3` rank, `%r4` the shared array `box`, `%r5` the barriers
    /// `bars`, `%r6` the rank of the next block, `%r7` and `%r8` its `box` and `bars`, `%d1` global memory.
    pub body: &'static str,
    pub seen: &'static [&'static [u32]],
}

const fn case(
    name: &'static str,
    cluster: [u32; 3],
    grid: [u32; 3],
    body: &'static str,
    seen: &'static [&'static [u32]],
) -> Case {
    Case { name, cluster: Some(cluster), grid, body, seen }
}

const PAIR: [u32; 3] = [2, 1, 1];
const INIT: &str = "one; mbarrier.init.shared::cta.b64 [%r5], 1; fence.mbarrier_init.release.cluster; all; sync; ";

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    case("registers of a line", PAIR, [4, 1, 1],
        "mov.u32 %r10, %clusterid.x; see %r10; mov.u32 %r10, %nclusterid.x; see %r10; mov.u32 %r10, %cluster_ctaid.x; see %r10; mov.u32 %r10, %cluster_nctaid.x; see %r10; see %r3; mov.u32 %r10, %cluster_nctarank; see %r10; mov.pred %p2, %is_explicit_cluster; selp.u32 %r10, 1, 0, %p2; see %r10",
        &[&[0, 2, 0, 2, 0, 2, 1], &[0, 2, 1, 2, 1, 2, 1], &[1, 2, 0, 2, 0, 2, 1], &[1, 2, 1, 2, 1, 2, 1]]),
    case("registers of a plane", [2, 2, 1], [4, 2, 1],
        "mov.u32 %r10, %clusterid.x; see %r10; mov.u32 %r10, %clusterid.y; see %r10; mov.u32 %r10, %cluster_ctaid.x; see %r10; mov.u32 %r10, %cluster_ctaid.y; see %r10; see %r3; mov.u32 %r10, %nclusterid.y; see %r10",
        &[&[0, 0, 0, 0, 0, 1], &[0, 0, 1, 0, 1, 1], &[1, 0, 0, 0, 0, 1], &[1, 0, 1, 0, 1, 1], &[0, 0, 0, 1, 2, 1], &[0, 0, 1, 1, 3, 1], &[1, 0, 0, 1, 2, 1], &[1, 0, 1, 1, 3, 1]]),
    case("registers of a cube", [2, 1, 2], [2, 2, 2],
        "mov.u32 %r10, %clusterid.y; see %r10; mov.u32 %r10, %clusterid.z; see %r10; mov.u32 %r10, %cluster_ctaid.z; see %r10; mov.u32 %r10, %cluster_nctaid.z; see %r10; see %r3",
        &[&[0, 0, 0, 2, 0], &[0, 0, 0, 2, 1], &[1, 0, 0, 2, 0], &[1, 0, 0, 2, 1], &[0, 0, 1, 2, 2], &[0, 0, 1, 2, 3], &[1, 0, 1, 2, 2], &[1, 0, 1, 2, 3]]),
    Case { name: "no clusters", cluster: None, grid: [2, 1, 1],
        body: "mov.u32 %r10, %clusterid.x; see %r10; mov.u32 %r10, %cluster_nctarank; see %r10; see %r3; mov.pred %p2, %is_explicit_cluster; selp.u32 %r10, 1, 0, %p2; see %r10; sync; st.shared.u32 [%r4], %r2; bar.sync 0; ld.shared::cluster.u32 %r10, [%r7]; see %r10",
        seen: &[&[0, 1, 0, 0, 0], &[1, 1, 0, 0, 1]] },
    case("read", PAIR, [4, 1, 1],
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4], %r10; sync; ld.shared::cluster.u32 %r11, [%r7]; see %r11; sync",
        &[&[101], &[100], &[103], &[102]]),
    case("read by generic address", PAIR, PAIR,
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4+8], %r10; sync; cvt.u64.u32 %d5, %r4; cvta.shared.u64 %d5, %d5; mapa.u64 %d6, %d5, %r6; ld.u32 %r11, [%d6+8]; see %r11; sync",
        &[&[101], &[100]]),
    case("read by a converted address", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; cvt.u64.u32 %d5, %r7; cvta.shared::cluster.u64 %d6, %d5; ld.u32 %r11, [%d6]; see %r11; cvta.to.shared::cluster.u64 %d7, %d6; ld.shared::cluster.u32 %r11, [%d7]; see %r11; sync",
        &[&[1, 1], &[0, 0]]),
    case("write", [4, 1, 1], [4, 1, 1],
        "add.u32 %r10, %r2, 100; st.shared::cluster.u32 [%r7], %r10; sync; ld.shared.u32 %r11, [%r4]; see %r11",
        &[&[103], &[100], &[101], &[102]]),
    case("write to itself", PAIR, PAIR,
        "mapa.shared::cluster.u32 %r10, %r4, %r3; st.shared::cluster.u32 [%r10+4], %r2; bar.sync 0; ld.shared.u32 %r11, [%r4+4]; see %r11; bar.sync 0; st.shared::cluster.u32 [%r4+4], 7; bar.sync 0; ld.shared.u32 %r11, [%r4+4]; see %r11",
        &[&[0, 7], &[1, 7]]),
    case("each lane another block", PAIR, PAIR,
        "add.u32 %r10, %r2, 10; shl.b32 %r11, %r1, 2; add.u32 %r12, %r4, %r11; st.shared.u32 [%r12], %r10; sync; and.b32 %r13, %r1, 1; mapa.shared::cluster.u32 %r14, %r12, %r13; ld.shared::cluster.u32 %r15, [%r14]; redux.sync.add.s32 %r16, %r15, -1; see %r15; see %r16; sync",
        &[&[10, 336], &[10, 336]]),
    case("vectors and bytes", PAIR, PAIR,
        "add.u32 %r10, %r2, 1; st.shared.v4.u32 [%r4], {%r10, %r10, %r2, %r10}; sync; ld.shared::cluster.v4.u32 {%r11, %r12, %r13, %r14}, [%r7]; see %r11; see %r13; ld.shared::cluster.u8 %r15, [%r7+8]; see %r15; ld.shared::cluster.u64 %d5, [%r7+8]; cvt.u32.u64 %r15, %d5; see %r15; sync; st.shared::cluster.u8 [%r7+9], 1; sync; ld.shared.u32 %r15, [%r4+8]; see %r15",
        &[&[2, 1, 1, 1, 256], &[1, 0, 0, 0, 257]]),
    case("atomics", PAIR, PAIR,
        "st.shared.u32 [%r4], 0; sync; mapa.shared::cluster.u32 %r10, %r4, 0; red.shared::cluster.add.u32 [%r10], 1; sync; ld.shared.u32 %r11, [%r4]; see %r11; sync; atom.shared::cluster.add.u32 %r12, [%r7], 5; sync; ld.shared.u32 %r11, [%r4]; see %r11; sync; one; atom.shared::cluster.cas.b32 %r12, [%r7], 160, 9; all; sync; see %r12; ld.shared.u32 %r11, [%r4]; see %r11",
        &[&[64, 224, 160, 224], &[0, 160, 224, 9]]),
    case("ranks of addresses", PAIR, PAIR,
        "getctarank.shared::cluster.u32 %r10, %r4; see %r10; getctarank.shared::cluster.u32 %r10, %r7; see %r10; mapa.shared::cluster.u32 %r11, %r7, %r3; getctarank.shared::cluster.u32 %r10, %r11; see %r10; cvt.u64.u32 %d5, %r4; cvta.shared.u64 %d5, %d5; mapa.u64 %d6, %d5, %r6; getctarank.u64 %r10, %d6; see %r10; getctarank.u64 %r10, %d5; see %r10",
        &[&[0, 1, 0, 1, 0], &[1, 0, 1, 0, 1]]),
    case("an own address handed to the next block", PAIR, PAIR,
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4+4], %r10; cvt.u64.u32 %d5, %r4; cvta.shared.u64 %d5, %d5; st.shared::cluster.u64 [%r7+8], %d5; sync; ld.shared.u64 %d6, [%r4+8]; ld.u32 %r11, [%d6+4]; see %r11; shr.u64 %d7, %d5, 24; cvt.u32.u64 %r12, %d7; and.b32 %r12, %r12, 255; see %r12; shr.u32 %r12, %r4, 24; see %r12; shr.u32 %r12, %r7, 24; see %r12; sync",
        &[&[101, 0, 0, 1], &[100, 1, 1, 0]]),
    case("spaces of addresses", PAIR, PAIR,
        "cvt.u64.u32 %d5, %r4; cvta.shared.u64 %d5, %d5; mapa.u64 %d6, %d5, %r6; mapa.u64 %d7, %d5, %r3; isspacep.shared %p2, %d5; selp.u32 %r10, 1, 0, %p2; see %r10; isspacep.shared::cluster %p2, %d5; selp.u32 %r10, 1, 0, %p2; see %r10; isspacep.shared::cta %p2, %d6; selp.u32 %r10, 1, 0, %p2; see %r10; isspacep.shared::cluster %p2, %d6; selp.u32 %r10, 1, 0, %p2; see %r10; isspacep.shared %p2, %d7; selp.u32 %r10, 1, 0, %p2; see %r10; isspacep.global %p2, %d6; selp.u32 %r10, 1, 0, %p2; see %r10",
        &[&[1, 1, 0, 1, 1, 0], &[1, 1, 0, 1, 1, 0]]),
    case("arrive, then wait", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; barrier.cluster.arrive.release.aligned; add.u32 %r10, %r2, 5; barrier.cluster.wait.acquire.aligned; ld.shared::cluster.u32 %r11, [%r7]; barrier.cluster.arrive.relaxed; see %r10; see %r11; barrier.cluster.wait",
        &[&[5, 1], &[6, 0]]),
    case("threads that have ended", PAIR, PAIR,
        "setp.ge.u32 %p2, %r1, 16; setp.eq.u32 %p3, %r2, 1; and.pred %p2, %p2, %p3; @%p2 exit; st.shared.u32 [%r4], %r2; barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r11, [%r7]; see %r11; barrier.cluster.arrive; barrier.cluster.wait",
        &[&[1], &[0]]),
    case("a barrier of the next block", PAIR, PAIR,
        "INIT st.shared::cluster.u32 [%r7], %r2; one; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8]; all; wait 0; ld.shared.u32 %r11, [%r4]; see %r11; sync",
        &[&[1], &[0]]),
    case("arrivals from all threads", PAIR, PAIR,
        "one; mbarrier.init.shared::cta.b64 [%r5], 64; all; sync; mapa.shared::cluster.u32 %r10, %r5, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]; setp.ne.u32 %p2, %r3, 0; @%p2 bra $past; wait 0; $past:; see %r3; sync",
        &[&[0], &[1]]),
    case("bytes of a barrier of the next block", PAIR, PAIR,
        "INIT one; mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r8], 16; mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r8], 16; all; wait 0; see %r3; sync",
        &[&[0], &[1]]),
    case("copy to the next block", PAIR, PAIR,
        "st.shared.u32 [%r4+64], %r2; st.shared.u32 [%r4+76], 9; fence.proxy.async; INIT one; mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [%r5], 16; add.u32 %r10, %r4, 64; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r10], 16, [%r8]; all; wait 0; ld.shared.u32 %r11, [%r4]; see %r11; ld.shared.u32 %r11, [%r4+12]; see %r11; sync",
        &[&[1, 9], &[0, 9]]),
    case("load to the next block", PAIR, PAIR,
        "INIT one; mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [%r5], 16; shl.b32 %r10, %r2, 4; cvt.u64.u32 %d6, %r10; add.u64 %d6, %d1, %d6; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%d6], 16, [%r8]; all; wait 0; ld.shared.u32 %r11, [%r4]; see %r11; ld.shared.u32 %r11, [%r4+12]; see %r11; sync",
        &[&[4, 7], &[0, 3]]),
    case("load to several blocks", [4, 1, 1], [4, 1, 1],
        "INIT st.shared.u32 [%r4+16], 77; bar.sync 0; one; setp.eq.u32 %p2, %r3, 2; selp.u32 %r12, 0, 16, %p2; mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [%r5], %r12; setp.ne.u32 %p2, %r3, 1; @%p2 bra $past; mov.b16 %h1, 11; add.u64 %d6, %d1, 32; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%d6], 16, [%r5], %h1; $past:; all; wait 0; setp.eq.u32 %p2, %r3, 2; mov.u32 %r11, 0; mov.u32 %r13, 0; @!%p2 ld.shared.u32 %r11, [%r4]; @!%p2 ld.shared.u32 %r13, [%r4+12]; see %r11; see %r13; sync",
        &[&[8, 11], &[8, 11], &[0, 0], &[8, 11]]),
];

/// Cases that are not defined: a GPU stops, or what it answers means nothing. Each with how the emulator's answer
/// starts.
///
/// The same H200 stopped at the reads of a block that has ended or that is not there (`CUDA_ERROR_LAUNCH_FAILED`), of
/// an address past the end (`ILLEGAL_ADDRESS`), of the next block's as its own, and at the wait for its barrier
/// (`ILLEGAL_INSTRUCTION`). It went on behind the write to a block that has ended, the wait without arrival and the two
/// arrivals. The cases from "an own address without its rank" on were not asked.
#[rustfmt::skip]
pub const WRONG: &[(Case, &str)] = &[
    (case("read of a block that has ended", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; setp.ne.u32 %p2, %r3, 1; @%p2 exit; mov.u32 %r20, 0; $again:; nanosleep.u32 1000; add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 200; @%p3 bra $again; ld.shared::cluster.u32 %r11, [%r7]; see %r11", &[]),
        "error[E-CLUSTER]: read of shared memory of a block that has exited"),
    (case("write to a block that has ended", PAIR, PAIR,
        "sync; setp.ne.u32 %p2, %r3, 1; @%p2 exit; mov.u32 %r20, 0; $again:; nanosleep.u32 1000; add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 200; @%p3 bra $again; st.shared::cluster.u32 [%r7], 1; see %r3", &[]),
        "error[E-CLUSTER]: write of shared memory of a block that has exited"),
    (case("a rank that is not there", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; mapa.shared::cluster.u32 %r10, %r4, 2; ld.shared::cluster.u32 %r11, [%r10]; see %r11; sync", &[]),
        "error[E-CLUSTER]: read of shared memory of a block that the cluster does not have"),
    (case("rank 7 of a cluster of 2", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; mapa.shared::cluster.u32 %r10, %r4, 7; ld.shared::cluster.u32 %r11, [%r10]; see %r11; sync", &[]),
        "error[E-CLUSTER]: read of shared memory of a block that the cluster does not have"),
    (case("past the end of the next block", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; ld.shared::cluster.u32 %r11, [%r7+300000]; see %r11; sync", &[]),
        "error[E-OOB]: read past the end of an array in another block's shared memory"),
    (case("the next block's address as its own", PAIR, PAIR,
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4], %r10; sync; ld.shared.u32 %r11, [%r7]; see %r11; sync", &[]),
        "error[E-CLUSTER]: read of another block's shared memory by an instruction that reaches only the block's own"),
    (case("wait without arrival", PAIR, PAIR, "barrier.cluster.wait.aligned; see %r3", &[]),
        "error[E-CLUSTER]: barrier.cluster.wait without barrier.cluster.arrive before it"),
    (case("two arrivals", PAIR, PAIR, "barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; see %r3", &[]),
        "error[E-CLUSTER]: barrier.cluster.arrive again, without barrier.cluster.wait in between"),
    (case("a barrier of the next block waited for", PAIR, PAIR,
        "INIT one; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8]; all; sync; cvt.u64.u32 %d5, %r8; cvta.shared::cluster.u64 %d6, %d5; mbarrier.test_wait.parity.b64 %p2, [%d6], 0; selp.u32 %r10, 1, 0, %p2; see %r10; sync", &[]),
        "error[E-MBARRIER]: an operation on another block's mbarrier that only its own block can perform"),
    (case("an own address without its rank", PAIR, PAIR,
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4], %r10; sync; and.b32 %r12, %r4, 0xFFFFFF; ld.shared.u32 %r11, [%r12]; see %r11; sync", &[]),
        "error[E-CLUSTER]: read of another block's shared memory by an instruction that reaches only the block's own"),
    (case("a store to the next block's address as its own", PAIR, PAIR,
        "sync; st.shared.u32 [%r7], %r2; sync; ld.shared.u32 %r11, [%r4]; see %r11; sync", &[]),
        "error[E-CLUSTER]: write of another block's shared memory by an instruction that reaches only the block's own"),
    (case("an atomic on the next block's address as its own", PAIR, PAIR,
        "st.shared.u32 [%r4], %r2; sync; atom.shared.add.u32 %r11, [%r7], 1; see %r11; sync", &[]),
        "error[E-CLUSTER]: atomic update of another block's shared memory by an instruction that reaches only the block's own"),
    (case("an arrival at the next block's barrier as its own", PAIR, PAIR,
        "INIT one; mbarrier.arrive.shared::cta.b64 %d5, [%r8]; all; wait 0; see %r3; sync", &[]),
        "error[E-MBARRIER]: an operation on another block's mbarrier that only its own block can perform"),
    (case("a barrier without its rank", PAIR, PAIR,
        "INIT and.b32 %r12, %r5, 0xFFFFFF; one; mbarrier.arrive.shared::cta.b64 %d5, [%r12]; all; wait 0; see %r3; sync", &[]),
        "error[E-MBARRIER]: an operation on another block's mbarrier that only its own block can perform"),
    (case("an asynchronous copy to the next block's address as its own", PAIR, PAIR,
        "add.u64 %d6, %d1, 32; sync; cp.async.ca.shared.global [%r7], [%d6], 4; cp.async.wait_all; sync; ld.shared.u32 %r11, [%r4]; see %r11; sync", &[]),
        "error[E-CLUSTER]: write of another block's shared memory by an instruction that reaches only the block's own"),
    (case("addresses without a rank", PAIR, PAIR,
        "add.u32 %r10, %r2, 100; st.shared.u32 [%r4], %r10; sync; and.b32 %r12, %r4, 0xFFFFFF; ld.shared::cluster.u32 %r11, [%r12]; see %r11; cvt.u64.u32 %d5, %r12; cvta.shared.u64 %d5, %d5; ld.u32 %r11, [%d5]; see %r11; getctarank.shared::cluster.u32 %r11, %r12; see %r11; sync", &[]),
        "100 100 0 | 100 100 0"),
];

/// Returns the module with the kernel `steps` of a case, and directives of the kernel.
pub fn module_with(case: &Case, directives: &str) -> String {
    let mut text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n\n\
         .visible .entry steps(.param .u64 p_memory, .param .u64 p_seen){directives}\n{{\n\
         \x20   .shared .align 128 .b8 box[1024];\n    .shared .align 8 .b64 bars[4];\n\
         \x20   .reg .pred %p<8>;\n    .reg .b16 %h<4>;\n    .reg .b32 %r<40>;\n    .reg .b64 %d<16>;\n    .reg .f32 %f<4>;\n\
         \x20   ld.param.u64 %d1, [p_memory];\n    cvta.to.global.u64 %d1, %d1;\n\
         \x20   ld.param.u64 %d2, [p_seen];\n    cvta.to.global.u64 %d2, %d2;\n\
         \x20   mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n\
         \x20   mov.u32 %r30, %ctaid.z;\n    mov.u32 %r31, %nctaid.y;\n    mov.u32 %r32, %ctaid.y;\n\
         \x20   mad.lo.u32 %r30, %r30, %r31, %r32;\n    mov.u32 %r31, %nctaid.x;\n    mov.u32 %r32, %ctaid.x;\n\
         \x20   mad.lo.u32 %r2, %r30, %r31, %r32;\n    mad.wide.u32 %d2, %r2, {}, %d2;\n\
         \x20   mov.u32 %r3, %cluster_ctarank;\n    mov.u32 %r4, box;\n    mov.u32 %r5, bars;\n\
         \x20   mov.u32 %r30, %cluster_nctarank;\n    add.u32 %r6, %r3, 1;\n    rem.u32 %r6, %r6, %r30;\n\
         \x20   mapa.shared::cluster.u32 %r7, %r4, %r6;\n    mapa.shared::cluster.u32 %r8, %r5, %r6;\n",
        4 * SEEN
    );
    let (mut n_seen, mut n_labels) = (0, 0);
    for step in case.body.replace("INIT ", INIT).split("; ") {
        let words: Vec<&str> = step.split(' ').collect();
        let line = match words[..] {
            ["see", register] => {
                n_seen += 1;
                format!("@!%p1 st.global.u32 [%d2+{}], {register};", 4 * (n_seen - 1))
            }
            ["sync"] => "barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;".to_owned(),
            ["one"] => {
                n_labels += 1;
                format!("@%p1 bra $all{n_labels};")
            }
            ["all"] => format!("$all{n_labels}:\n    bar.warp.sync -1;"),
            ["wait", parity] => {
                n_labels += 1;
                format!(
                    "$wait{n_labels}:\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r5], {parity};\n    \
                     @!%p7 bra $wait{n_labels};"
                )
            }
            _ if step.ends_with(':') => step.to_owned(),
            _ => format!("{step};"),
        };
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("    ret;\n}\n");
    text
}

pub fn module(case: &Case) -> String {
    module_with(case, "")
}

pub fn memory() -> Vec<u32> {
    (0..WORDS as u32).collect()
}

/// Returns the words that the blocks saw, as one line: `101 | 100`.
pub fn shown(words: &[u32]) -> String {
    let block = |words: &[u32]| {
        let seen = words.iter().take_while(|word| **word != UNSEEN);
        seen.map(u32::to_string).collect::<Vec<_>>().join(" ")
    };
    let blocks: Vec<String> = words.chunks(SEEN).map(block).collect();
    blocks.join(" | ").trim_end_matches([' ', '|']).to_owned()
}

/// Returns the words that the blocks of a case should see, as [`shown`] prints them.
pub fn expected(case: &Case) -> String {
    let block = |words: &&[u32]| words.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    case.seen.iter().map(block).collect::<Vec<_>>().join(" | ")
}
