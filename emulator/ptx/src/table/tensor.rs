//! Instructions of Hopper: barriers in shared memory, tensor maps and copies of boxes, products of warpgroups.

use super::RowText;

/// Shapes of a product of a warpgroup: 64 rows, 8 to 256 columns, and the k of the operands' type.
macro_rules! products {
    ($k:literal, $types:literal) => {
        products!($k, $types;
            "8" "16" "24" "32" "40" "48" "56" "64" "72" "80" "88" "96" "104" "112" "120" "128" "136" "144" "152"
            "160" "168" "176" "184" "192" "200" "208" "216" "224" "232" "240" "248" "256")
    };
    ($k:literal, $types:literal; $first:literal $($n:literal)*) => {
        concat!("wgmma.mma_async.sync.aligned{.m64n", $first, $k $(, ",.m64n", $n, $k)*, "}", $types)
    };
}

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    ("Synchronisation: fence", "fence.proxy{.alias,.async,.async.global,.async.shared::cta,.async.shared::cluster}", "", "orders accesses of different kinds"),
    ("Synchronisation: fence", "fence.mbarrier_init.release.cluster", "", "orders the set-up of an mbarrier"),
    ("Synchronisation: barrier.cluster", "barrier.cluster.arrive{,.release,.relaxed}{,.aligned}", "", "arrives at the barrier of the cluster"),
    ("Synchronisation: barrier.cluster", "barrier.cluster.wait{,.acquire}{,.aligned}", "", "waits for the threads of the cluster"),
    ("Data movement: mapa", "mapa{,.shared::cluster}{.u32,.u64}", "d, a, b", "shared address of another block"),
    ("Data movement: mapa", "getctarank{,.shared::cluster}{.u32,.u64}", "d, a", "the block that owns a shared address"),
    ("Synchronisation: mbarrier", "mbarrier.init{,.shared,.shared::cta}.b64", "[a], n", "makes a barrier of n arrivals"),
    ("Synchronisation: mbarrier", "mbarrier.inval{,.shared,.shared::cta}.b64", "[a]", "ends a barrier"),
    ("Synchronisation: mbarrier", "mbarrier{.expect_tx,.complete_tx}{,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "[a], n", "changes how many bytes a phase waits for"),
    ("Synchronisation: mbarrier", "mbarrier{.arrive,.arrive_drop}{,.release,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "d, [a]{, n}", "arrives"),
    ("Synchronisation: mbarrier", "mbarrier{.arrive,.arrive_drop}.expect_tx{,.release,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "d, [a], n", "arrives, and lets the phase wait for n more bytes"),
    ("Synchronisation: mbarrier", "mbarrier{.arrive,.arrive_drop}.noComplete{,.release}{,.cta}{,.shared,.shared::cta}.b64", "d, [a], n", "arrives, and does not end the phase"),
    ("Synchronisation: mbarrier", "mbarrier.test_wait{,.parity}{,.acquire,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta}.b64", "p, [a], phase", "whether a phase has ended"),
    ("Synchronisation: mbarrier", "mbarrier.try_wait{,.parity}{,.acquire,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta}.b64", "p, [a], phase{, ns}", "waits some time for the end of a phase"),
    ("Synchronisation: mbarrier.pending_count", "mbarrier.pending_count.b64", "d, a", "arrivals that a phase waited for before an arrival"),
    ("Asynchronous copy: cp.async.mbarrier.arrive", "cp.async.mbarrier.arrive{,.noinc}{,.shared,.shared::cta}.b64", "[a]", "arrives when the thread's copies are done"),
    ("Miscellaneous: setmaxnreg", "setmaxnreg{.inc,.dec}.sync.aligned.u32", "n", "changes the number of registers of a warp"),
    ("Asynchronous copy: cp.async.bulk.commit_group", "cp.async.bulk.commit_group", "", "closes a group of bulk copies"),
    ("Asynchronous copy: cp.async.bulk.wait_group", "cp.async.bulk.wait_group{,.read}", "n", "waits until at most n groups of bulk copies are open"),
    ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}{.shared::cluster,.shared::cta}.global{,.tile}.mbarrier::complete_tx::bytes{,.L2::cache_hint}", "[d], [map, c], [mbar]{, policy}", "copies a box of a tensor to shared memory in the background"),
    ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}.shared::cluster.global{,.tile}.mbarrier::complete_tx::bytes.multicast::cluster{,.L2::cache_hint}", "[d], [map, c], [mbar], mask{, policy}", "copies a box of a tensor to several blocks of the cluster"),
    ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}.global.shared::cta{,.tile}.bulk_group{,.L2::cache_hint}", "[map, c], [a]{, policy}", "copies shared memory to a box of a tensor in the background"),
    ("Asynchronous copy: cp.async.bulk.prefetch.tensor", "cp.async.bulk.prefetch.tensor{.1d,.2d,.3d,.4d,.5d}.L2.global{,.tile}{,.L2::cache_hint}", "[map, c]{, policy}", "brings a box of a tensor into the cache"),
    ("Data movement: prefetch", "prefetch{,.param,.const}.tensormap", "[a]", "brings a tensor map into the cache"),
    ("Matrix: wgmma.mma_async", products!("k16", ".f32.bf16.bf16"), "d, a, b, p, sa, sb, ta{, tb}", "product of four warps, in the background"),
    ("Matrix: wgmma.mma_async", products!("k16", "{.f16,.f32}.f16.f16"), "d, a, b, p, sa, sb, ta{, tb}", "product of four warps, in the background"),
    ("Matrix: wgmma.mma_async", products!("k8", ".f32.tf32.tf32"), "d, a, b, p, sa, sb", "product of four warps, in the background"),
    ("Matrix: wgmma.mma_async", products!("k32", "{.f16,.f32}{.e4m3,.e5m2}{.e4m3,.e5m2}"), "d, a, b, p, sa, sb", "product of four warps, in the background"),
    ("Matrix: wgmma.fence", "wgmma.fence.sync.aligned", "", "orders registers and the products that use them"),
    ("Matrix: wgmma.commit_group", "wgmma.commit_group.sync.aligned", "", "closes a group of products"),
    ("Matrix: wgmma.wait_group", "wgmma.wait_group.sync.aligned", "n", "waits until at most n groups of products are open"),
];
