//! Instructions of Hopper: barriers in shared memory, tensor maps and copies of boxes, products of warpgroups.

use super::Section;

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
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Synchronisation: fence", refused: None, rows: &[
        ("fence.proxy{.alias,.async,.async.global,.async.shared::cta,.async.shared::cluster}", "", "orders accesses of different kinds"),
        ("fence.mbarrier_init.release.cluster", "", "orders the set-up of an mbarrier"),
    ] },
    Section { title: "Synchronisation: barrier.cluster", refused: None, rows: &[
        ("barrier.cluster.arrive{,.release,.relaxed}{,.aligned}", "", "arrives at the barrier of the cluster"),
        ("barrier.cluster.wait{,.acquire}{,.aligned}", "", "waits for the threads of the cluster"),
    ] },
    Section { title: "Data movement: mapa", refused: None, rows: &[
        ("mapa{,.shared::cluster}{.u32,.u64}", "d, a, b", "shared address of another block"),
        ("getctarank{,.shared::cluster}{.u32,.u64}", "d, a", "the block that owns a shared address"),
    ] },
    Section { title: "Synchronisation: mbarrier", refused: None, rows: &[
        ("mbarrier.init{,.shared,.shared::cta}.b64", "[a], n", "makes a barrier of n arrivals"),
        ("mbarrier.inval{,.shared,.shared::cta}.b64", "[a]", "ends a barrier"),
        ("mbarrier{.expect_tx,.complete_tx}{,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "[a], n", "changes how many bytes a phase waits for"),
        ("mbarrier{.arrive,.arrive_drop}{,.release,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "d, [a]{, n}", "arrives"),
        ("mbarrier{.arrive,.arrive_drop}.expect_tx{,.release,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta,.shared::cluster}.b64", "d, [a], n", "arrives, and lets the phase wait for n more bytes"),
        ("mbarrier{.arrive,.arrive_drop}.noComplete{,.release}{,.cta}{,.shared,.shared::cta}.b64", "d, [a], n", "arrives, and does not end the phase"),
        ("mbarrier.test_wait{,.parity}{,.acquire,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta}.b64", "p, [a], phase", "whether a phase has ended"),
        ("mbarrier.try_wait{,.parity}{,.acquire,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta}.b64", "p, [a], phase{, ns}", "waits some time for the end of a phase"),
    ] },
    Section { title: "Synchronisation: mbarrier.pending_count", refused: None, rows: &[
        ("mbarrier.pending_count.b64", "d, a", "arrivals that a phase waited for before an arrival"),
    ] },
    Section { title: "Asynchronous copy: cp.async.mbarrier.arrive", refused: None, rows: &[
        ("cp.async.mbarrier.arrive{,.noinc}{,.shared,.shared::cta}.b64", "[a]", "arrives when the thread's copies are done"),
    ] },
    Section { title: "Miscellaneous: setmaxnreg", refused: None, rows: &[
        ("setmaxnreg{.inc,.dec}.sync.aligned.u32", "n", "changes the number of registers of a warp"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.commit_group", refused: None, rows: &[
        ("cp.async.bulk.commit_group", "", "closes a group of bulk copies"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.wait_group", refused: None, rows: &[
        ("cp.async.bulk.wait_group{,.read}", "n", "waits until at most n groups of bulk copies are open"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.tensor", refused: None, rows: &[
        ("cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}{.shared::cluster,.shared::cta}.global{,.tile}.mbarrier::complete_tx::bytes{,.L2::cache_hint}", "[d], [map, c], [mbar]{, policy}", "copies a box of a tensor to shared memory in the background"),
        ("cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}.shared::cluster.global{,.tile}.mbarrier::complete_tx::bytes.multicast::cluster{,.L2::cache_hint}", "[d], [map, c], [mbar], mask{, policy}", "copies a box of a tensor to several blocks of the cluster"),
        ("cp.async.bulk.tensor{.1d,.2d,.3d,.4d,.5d}.global.shared::cta{,.tile}.bulk_group{,.L2::cache_hint}", "[map, c], [a]{, policy}", "copies shared memory to a box of a tensor in the background"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.prefetch.tensor", refused: None, rows: &[
        ("cp.async.bulk.prefetch.tensor{.1d,.2d,.3d,.4d,.5d}.L2.global{,.tile}{,.L2::cache_hint}", "[map, c]{, policy}", "brings a box of a tensor into the cache"),
    ] },
    Section { title: "Data movement: prefetch", refused: None, rows: &[
        ("prefetch{,.param,.const}.tensormap", "[a]", "brings a tensor map into the cache"),
    ] },
    Section { title: "Matrix: wgmma.mma_async", refused: None, rows: &[
        (products!("k16", ".f32.bf16.bf16"), "d, a, b, p, sa, sb, ta{, tb}", "product of four warps, in the background"),
        (products!("k16", "{.f16,.f32}.f16.f16"), "d, a, b, p, sa, sb, ta{, tb}", "product of four warps, in the background"),
        (products!("k8", ".f32.tf32.tf32"), "d, a, b, p, sa, sb", "product of four warps, in the background"),
        (products!("k32", "{.f16,.f32}{.e4m3,.e5m2}{.e4m3,.e5m2}"), "d, a, b, p, sa, sb", "product of four warps, in the background"),
    ] },
    Section { title: "Matrix: wgmma.fence", refused: None, rows: &[
        ("wgmma.fence.sync.aligned", "", "orders registers and the products that use them"),
    ] },
    Section { title: "Matrix: wgmma.commit_group", refused: None, rows: &[
        ("wgmma.commit_group.sync.aligned", "", "closes a group of products"),
    ] },
    Section { title: "Matrix: wgmma.wait_group", refused: None, rows: &[
        ("wgmma.wait_group.sync.aligned", "n", "waits until at most n groups of products are open"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.tensor", refused: Some("it came with compute capability 10.0, and the emulated device has 9.0"), rows: &[
        ("cp.async.bulk.tensor.*{.cta_group::1,.cta_group::2}", "[d], [map, c], [mbar]{, i}{, policy}", "copies a box to one of two blocks"),
        ("cp.async.bulk.tensor.*{.cta_group::1,.cta_group::2}.*", "[d], [map, c], [mbar]{, i}{, policy}", "copies a box to one of two blocks"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk.tensor", refused: Some("only boxes are emulated: no im2col, gather or scatter"), rows: &[
        ("cp.async.bulk.tensor.*", "{a}{, b}{, c}{, d}{, e}", "copies other parts of a tensor"),
        ("cp.async.bulk.prefetch.tensor.*", "{a}{, b}{, c}", "brings other parts of a tensor into the cache"),
    ] },
    Section { title: "Asynchronous copy: cp.reduce.async.bulk.tensor", refused: Some("reductions of tensors are not emulated yet"), rows: &[
        ("cp.reduce.async.bulk.tensor.*", "{a}{, b}{, c}", "reduces shared memory into a box of a tensor"),
    ] },
    Section { title: "Asynchronous copy: tensormap", refused: Some("tensor maps that kernels change are not emulated yet"), rows: &[
        ("tensormap.*", "{a}{, b}{, c}{, d}", "changes a tensor map"),
    ] },
];
