//! Control flow, barriers, atomics, votes.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Control flow: bra", refused: None, rows: &[
        ("bra{,.uni}", "tgt", "branch"),
    ] },
    Section { title: "Control flow: brx.idx", refused: None, rows: &[
        ("brx.idx{,.uni}", "index, tlist", "branch through a table"),
    ] },
    Section { title: "Control flow: call", refused: None, rows: &[
        ("call{,.uni}", "{(ret), }func{, (args)}{, proto}", "call"),
    ] },
    Section { title: "Control flow: ret", refused: None, rows: &[
        ("ret{,.uni}", "", "return"),
    ] },
    Section { title: "Control flow: exit", refused: None, rows: &[
        ("exit", "", "ends the thread"),
    ] },
    Section { title: "Synchronisation: bar", refused: None, rows: &[
        ("bar{,.cta}.sync", "a{, b}", "waits for the threads of the block"),
        ("bar{,.cta}.arrive", "a, b", "counts as arrived without waiting"),
        ("bar{,.cta}.red.popc.u32", "d, a{, b}, c", "waits, and counts the threads for which c holds"),
        ("bar{,.cta}.red{.and,.or}.pred", "p, a{, b}, c", "waits, and tells whether c holds for all or any"),
    ] },
    Section { title: "Synchronisation: barrier", refused: None, rows: &[
        ("barrier{,.cta}.sync{,.aligned}", "a{, b}", "waits for the threads of the block"),
        ("barrier{,.cta}.arrive{,.aligned}", "a, b", "counts as arrived without waiting"),
        ("barrier{,.cta}.red.popc{,.aligned}.u32", "d, a{, b}, c", "waits, and counts the threads for which c holds"),
        ("barrier{,.cta}.red{.and,.or}{,.aligned}.pred", "p, a{, b}, c", "waits, and tells whether c holds for all or any"),
    ] },
    Section { title: "Synchronisation: bar.warp.sync", refused: None, rows: &[
        ("bar.warp.sync", "membermask", "waits for lanes of the warp"),
    ] },
    Section { title: "Synchronisation: membar", refused: None, rows: &[
        ("membar{.cta,.gl,.sys}", "", "orders memory accesses"),
    ] },
    Section { title: "Synchronisation: fence", refused: None, rows: &[
        ("fence{,.sc,.acq_rel,.acquire,.release}{.cta,.cluster,.gpu,.sys}", "", "orders memory accesses"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.and{,.L2::cache_hint}{.b32,.b64}", "d, [a], b{, policy}", "bits and-ed in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.and{,.L2::cache_hint}{.b32,.b64}", "[a], b{, policy}", "bits and-ed in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.or{,.L2::cache_hint}{.b32,.b64}", "d, [a], b{, policy}", "bits or-ed in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.or{,.L2::cache_hint}{.b32,.b64}", "[a], b{, policy}", "bits or-ed in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.xor{,.L2::cache_hint}{.b32,.b64}", "d, [a], b{, policy}", "bits xor-ed in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.xor{,.L2::cache_hint}{.b32,.b64}", "[a], b{, policy}", "bits xor-ed in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.exch{,.L2::cache_hint}{.b32,.b64}", "d, [a], b{, policy}", "exchange in memory, with the old value"),
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add{,.L2::cache_hint}{.u32,.s32,.u64}", "d, [a], b{, policy}", "sum in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add{,.L2::cache_hint}{.u32,.s32,.u64}", "[a], b{, policy}", "sum in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add{,.L2::cache_hint}{.f32,.f64}", "d, [a], b{, policy}", "sum in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add{,.L2::cache_hint}{.f32,.f64}", "[a], b{, policy}", "sum in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.inc{,.L2::cache_hint}.u32", "d, [a], b{, policy}", "increment up to a limit in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.inc{,.L2::cache_hint}.u32", "[a], b{, policy}", "increment up to a limit in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.dec{,.L2::cache_hint}.u32", "d, [a], b{, policy}", "decrement, wrapping at a limit in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.dec{,.L2::cache_hint}.u32", "[a], b{, policy}", "decrement, wrapping at a limit in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.min{,.L2::cache_hint}{.u32,.u64,.s32,.s64}", "d, [a], b{, policy}", "minimum in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.min{,.L2::cache_hint}{.u32,.u64,.s32,.s64}", "[a], b{, policy}", "minimum in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.max{,.L2::cache_hint}{.u32,.u64,.s32,.s64}", "d, [a], b{, policy}", "maximum in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.max{,.L2::cache_hint}{.u32,.u64,.s32,.s64}", "[a], b{, policy}", "maximum in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add.noftz{,.L2::cache_hint}{.f16,.f16x2}", "d, [a], b{, policy}", "sum of halves in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add.noftz{,.L2::cache_hint}{.f16,.f16x2}", "[a], b{, policy}", "sum of halves in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add.noftz{,.L2::cache_hint}{.bf16,.bf16x2}", "d, [a], b{, policy}", "sum of halves in memory, with the old value"),
    ] },
    Section { title: "Synchronisation: red", refused: None, rows: &[
        ("red{,.relaxed,.release}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.add.noftz{,.L2::cache_hint}{.bf16,.bf16x2}", "[a], b{, policy}", "sum of halves in memory"),
    ] },
    Section { title: "Synchronisation: atom", refused: None, rows: &[
        ("atom{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.cluster,.gpu,.sys}{,.global,.shared,.shared::cta,.shared::cluster}.cas{.b16,.b32,.b64}", "d, [a], b, c", "compare and swap"),
    ] },
    Section { title: "Synchronisation: vote", refused: None, rows: &[
        ("vote{.all,.any,.uni}.pred", "p, a", "vote of the warp (before Volta)"),
        ("vote.ballot.b32", "d, a", "mask of the lanes for which a holds (before Volta)"),
    ] },
    Section { title: "Synchronisation: vote.sync", refused: None, rows: &[
        ("vote.sync.all.pred", "p, a, membermask", "whether a holds in all lanes"),
        ("vote.sync.any.pred", "p, a, membermask", "whether a holds in any lane"),
        ("vote.sync.uni.pred", "p, a, membermask", "whether a is the same in all lanes"),
        ("vote.sync.ballot.b32", "d, a, membermask", "mask of the lanes for which a holds"),
    ] },
    Section { title: "Synchronisation: match.sync", refused: None, rows: &[
        ("match.any.sync{.b32,.b64}", "d, a, membermask", "lanes with the same value"),
        ("match.all.sync{.b32,.b64}", "d, a, membermask", "all lanes when the value is the same; d|p tells"),
    ] },
    Section { title: "Synchronisation: activemask", refused: None, rows: &[
        ("activemask.b32", "d", "lanes that run this instruction together"),
    ] },
    Section { title: "Synchronisation: redux.sync", refused: None, rows: &[
        ("redux.sync.add{.u32,.s32}", "d, a, membermask", "sum over the lanes"),
        ("redux.sync.min{.u32,.s32}", "d, a, membermask", "minimum over the lanes"),
        ("redux.sync.max{.u32,.s32}", "d, a, membermask", "maximum over the lanes"),
        ("redux.sync{.and,.or,.xor}.b32", "d, a, membermask", "bits combined over the lanes"),
    ] },
    Section { title: "Synchronisation: elect.sync", refused: None, rows: &[
        ("elect.sync", "d|p, membermask", "picks one lane"),
    ] },
    Section { title: "Miscellaneous: nanosleep", refused: None, rows: &[
        ("nanosleep.u32", "t", "sleeps for about t nanoseconds"),
    ] },
    Section { title: "Miscellaneous: trap", refused: None, rows: &[
        ("trap", "", "stops the launch with an error"),
    ] },
    Section { title: "Miscellaneous: brkpt", refused: None, rows: &[
        ("brkpt", "", "breakpoint"),
    ] },
    Section { title: "Miscellaneous: pmevent", refused: None, rows: &[
        ("pmevent", "a", "counts an event of the profiler"),
        ("pmevent.mask", "a", "counts events of the profiler"),
    ] },
];
