//! Moving data: registers, memory, caches, textures.

use super::Section;

/// In the order of the PTX manual.
#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Data movement: mov", refused: None, rows: &[
        ("mov.pred", "p, a", "copy of a predicate"),
        ("mov{.b16,.b32,.b64}", "d, a", "copy; packs or unpacks when one side is a vector"),
        ("mov{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a", "copy, or the address of a variable"),
        ("mov{.f32,.f64}", "d, a", "copy"),
        ("mov.v2{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d, a", "copy of a vector of two"),
        ("mov.v4{.b16,.b32,.u16,.u32,.s16,.s32,.f32}", "d, a", "copy of a vector of four"),
    ] },
    Section { title: "Data movement: shfl", refused: None, rows: &[
        ("shfl{.up,.down,.bfly,.idx}.b32", "d, a, b, c", "value of another lane of the warp (before Volta)"),
    ] },
    Section { title: "Data movement: shfl.sync", refused: None, rows: &[
        ("shfl.sync.up.b32", "d, a, b, c, membermask", "value of a lower lane; d|p tells whether it is in range"),
        ("shfl.sync.down.b32", "d, a, b, c, membermask", "value of a higher lane; d|p tells whether it is in range"),
        ("shfl.sync.bfly.b32", "d, a, b, c, membermask", "value of the lane at a xor b; d|p tells whether it is in range"),
        ("shfl.sync.idx.b32", "d, a, b, c, membermask", "value of a given lane; d|p tells whether it is in range"),
    ] },
    Section { title: "Data movement: prmt", refused: None, rows: &[
        ("prmt.b32", "d, a, b, c", "bytes of b:a picked by selectors"),
        ("prmt.b32.f4e", "d, a, b, c", "four bytes of b:a forward from c"),
        ("prmt.b32.b4e", "d, a, b, c", "four bytes of b:a backward from c"),
        ("prmt.b32.rc8", "d, a, b, c", "one byte four times"),
        ("prmt.b32.ecl", "d, a, b, c", "bytes clamped from the left"),
        ("prmt.b32.ecr", "d, a, b, c", "bytes clamped from the right"),
        ("prmt.b32.rc16", "d, a, b, c", "one half twice"),
    ] },
    Section { title: "Data movement: ld", refused: None, rows: &[
        ("ld{,.weak}{,.ca,.cg,.cs,.lu,.cv,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]{, policy}", "load from a generic address"),
        ("ld{,.weak}{,.ca,.cg,.cs,.lu,.cv,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]{, policy}", "load of four from a generic address"),
        ("ld{,.weak}.global{,.ca,.cg,.cs,.lu,.cv,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]{, policy}", "load from global memory"),
        ("ld{,.weak}.global{,.ca,.cg,.cs,.lu,.cv,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]{, policy}", "load of four from global memory"),
        ("ld{,.weak}.const{,.ca,.cg,.cs,.lu,.cv}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load from constant memory"),
        ("ld{,.weak}.const{,.ca,.cg,.cs,.lu,.cv}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four from constant memory"),
        ("ld{,.weak}.local{,.ca,.cg,.cs,.lu,.cv}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load from local memory"),
        ("ld{,.weak}.local{,.ca,.cg,.cs,.lu,.cv}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four from local memory"),
        ("ld{,.weak}{.param,.param::entry,.param::func}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load from parameters"),
        ("ld{,.weak}{.param,.param::entry,.param::func}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four from parameters"),
        ("ld{,.weak}{.shared,.shared::cta,.shared::cluster}{,.ca,.cg,.cs,.lu,.cv}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load from shared memory"),
        ("ld{,.weak}{.shared,.shared::cta,.shared::cluster}{,.ca,.cg,.cs,.lu,.cv}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four from shared memory"),
        ("ld.volatile{,.global}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load that is not kept or left out"),
        ("ld.volatile{,.global}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four that is not kept or left out"),
        ("ld.volatile{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load that is not kept or left out"),
        ("ld.volatile{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four that is not kept or left out"),
        ("ld.relaxed{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]{, policy}", "relaxed load"),
        ("ld.relaxed{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]{, policy}", "relaxed load of four"),
        ("ld.relaxed{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "relaxed load from shared memory"),
        ("ld.relaxed{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "relaxed load of four from shared memory"),
        ("ld.acquire{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]{, policy}", "acquire load"),
        ("ld.acquire{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]{, policy}", "acquire load of four"),
        ("ld.acquire{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "acquire load from shared memory"),
        ("ld.acquire{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "acquire load of four from shared memory"),
        ("ld.mmio.relaxed.sys{,.global}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load of a device register"),
    ] },
    Section { title: "Data movement: ld.global.nc", refused: None, rows: &[
        ("ld.global{,.ca,.cg,.cs}.nc{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]{, policy}", "load through the read-only path"),
        ("ld.global{,.ca,.cg,.cs}.nc{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]{, policy}", "load of four through the read-only path"),
    ] },
    Section { title: "Data movement: ldu", refused: None, rows: &[
        ("ldu{,.global}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "d, [a]", "load from an address that is the same in the whole warp"),
        ("ldu{,.global}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "d, [a]", "load of four from an address that is the same in the whole warp"),
    ] },
    Section { title: "Data movement: st", refused: None, rows: &[
        ("st{,.weak}{,.wb,.cg,.cs,.wt,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b{, policy}", "store to a generic address"),
        ("st{,.weak}{,.wb,.cg,.cs,.wt,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b{, policy}", "store of four to a generic address"),
        ("st{,.weak}.global{,.wb,.cg,.cs,.wt,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b{, policy}", "store to global memory"),
        ("st{,.weak}.global{,.wb,.cg,.cs,.wt,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b{, policy}", "store of four to global memory"),
        ("st{,.weak}.local{,.wb,.cg,.cs,.wt}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store to local memory"),
        ("st{,.weak}.local{,.wb,.cg,.cs,.wt}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "store of four to local memory"),
        ("st{,.weak}{.param,.param::func}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store to parameters"),
        ("st{,.weak}{.param,.param::func}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "store of four to parameters"),
        ("st{,.weak}{.shared,.shared::cta,.shared::cluster}{,.wb,.cg,.cs,.wt}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store to shared memory"),
        ("st{,.weak}{.shared,.shared::cta,.shared::cluster}{,.wb,.cg,.cs,.wt}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "store of four to shared memory"),
        ("st.volatile{,.global}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store that is not put off or left out"),
        ("st.volatile{,.global}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "store of four that is not put off or left out"),
        ("st.volatile{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store that is not put off or left out"),
        ("st.volatile{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "store of four that is not put off or left out"),
        ("st.relaxed{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b{, policy}", "relaxed store"),
        ("st.relaxed{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b{, policy}", "relaxed store of four"),
        ("st.relaxed{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "relaxed store to shared memory"),
        ("st.relaxed{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "relaxed store of four to shared memory"),
        ("st.release{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b{, policy}", "release store"),
        ("st.release{.cta,.cluster,.gpu,.sys}{,.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_normal,.L2::evict_first,.L2::evict_last}{,.L2::cache_hint}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b{, policy}", "release store of four"),
        ("st.release{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}{,.v2}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "release store to shared memory"),
        ("st.release{.cta,.cluster,.gpu,.sys}{.shared,.shared::cta,.shared::cluster}.v4{.b8,.b16,.b32,.u8,.u16,.u32,.s8,.s16,.s32,.f32}", "[a], b", "release store of four to shared memory"),
        ("st.mmio.relaxed.sys{,.global}{.b8,.b16,.b32,.b64,.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.f32,.f64}", "[a], b", "store to a device register"),
    ] },
    Section { title: "Data movement: prefetch", refused: None, rows: &[
        ("prefetch{,.global,.local}{.L1,.L2}", "[a]", "brings a line into the cache"),
        ("prefetch.global{.L2::evict_last,.L2::evict_normal}", "[a]", "brings a line into the cache"),
        ("prefetchu.L1", "[a]", "brings a line into the cache"),
    ] },
    Section { title: "Data movement: applypriority", refused: None, rows: &[
        ("applypriority{,.global}.L2::evict_normal", "[a], size", "changes how soon a line is evicted"),
    ] },
    Section { title: "Data movement: discard", refused: None, rows: &[
        ("discard{,.global}.L2", "[a], size", "drops what a cache line holds"),
    ] },
    Section { title: "Data movement: isspacep", refused: None, rows: &[
        ("isspacep{.const,.global,.local,.shared,.shared::cta,.shared::cluster,.param,.param::entry}", "p, a", "whether a generic address lies in a space"),
    ] },
    Section { title: "Data movement: cvta", refused: None, rows: &[
        ("cvta{.const,.global,.local,.shared,.shared::cta,.shared::cluster,.param,.param::entry}{.u32,.u64}", "d, a", "address in a space to a generic address"),
        ("cvta.to{.const,.global,.local,.shared,.shared::cta,.shared::cluster,.param,.param::entry}{.u32,.u64}", "d, a", "generic address to an address in a space"),
    ] },
    Section { title: "Asynchronous copy: cp.async", refused: None, rows: &[
        ("cp.async.ca{.shared,.shared::cta}.global{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}", "[d], [a], size{, src}{, policy}", "copies 4, 8 or 16 bytes to shared memory in the background"),
        ("cp.async.cg{.shared,.shared::cta}.global{,.L2::cache_hint}{,.L2::64B,.L2::128B,.L2::256B}", "[d], [a], size{, src}{, policy}", "copies 16 bytes to shared memory in the background"),
    ] },
    Section { title: "Asynchronous copy: cp.async.commit_group", refused: None, rows: &[
        ("cp.async.commit_group", "", "closes a group of copies"),
    ] },
    Section { title: "Asynchronous copy: cp.async.wait_group", refused: None, rows: &[
        ("cp.async.wait_group", "n", "waits until at most n groups are open"),
        ("cp.async.wait_all", "", "waits for all copies"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk", refused: None, rows: &[
        ("cp.async.bulk{.shared::cluster,.shared::cta}.global.mbarrier::complete_tx::bytes{,.L2::cache_hint}", "[d], [a], size, [mbar]{, policy}", "copies many bytes to shared memory in the background"),
        ("cp.async.bulk.global.shared::cta.bulk_group{,.L2::cache_hint}", "[d], [a], size{, policy}", "copies many bytes of shared memory in the background"),
        ("cp.async.bulk.prefetch.L2.global{,.L2::cache_hint}", "[a], size{, policy}", "brings many bytes into the cache"),
    ] },
    Section { title: "Texture: tex", refused: None, rows: &[
        ("tex.1d.v4{.f32,.s32,.u32}.f32", "d, [a, c]", "1d texture at float coordinates"),
        ("tex.1d.v4{.f32,.s32,.u32}.s32", "d, [a, c]", "1d texture at integer coordinates"),
        ("tex.2d.v4{.f32,.s32,.u32}.f32", "d, [a, c]", "2d texture at float coordinates"),
        ("tex.2d.v4{.f32,.s32,.u32}.s32", "d, [a, c]", "2d texture at integer coordinates"),
    ] },
];
