//! Valid instructions that are not emulated, each with the reason.

use super::RowText;

/// Rows by the reason of the refusal.
#[rustfmt::skip]
pub(super) const ROWS: &[(&str, &[RowText])] = &[
    ("it came with compute capability 10.0, and the emulated device has 9.0", &[
        ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor.*{.cta_group::1,.cta_group::2}", "[d], [map, c], [mbar]{, i}{, policy}", "copies a box to one of two blocks"),
        ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor.*{.cta_group::1,.cta_group::2}.*", "[d], [map, c], [mbar]{, i}{, policy}", "copies a box to one of two blocks"),
    ]),
    ("only boxes are emulated: no im2col, gather or scatter", &[
        ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.tensor.*", "{a}{, b}{, c}{, d}{, e}", "copies other parts of a tensor"),
        ("Asynchronous copy: cp.async.bulk.tensor", "cp.async.bulk.prefetch.tensor.*", "{a}{, b}{, c}", "brings other parts of a tensor into the cache"),
    ]),
    ("reductions of tensors are not emulated yet", &[
        ("Asynchronous copy: cp.reduce.async.bulk.tensor", "cp.reduce.async.bulk.tensor.*", "{a}{, b}{, c}", "reduces shared memory into a box of a tensor"),
    ]),
    ("tensor maps that kernels change are not emulated yet", &[
        ("Asynchronous copy: tensormap", "tensormap.*", "{a}{, b}{, c}{, d}", "changes a tensor map"),
    ]),
    ("it came with PTX 9.2, which is not emulated yet", &[
        ("Integer arithmetic: add", "add{,.sat}{.u8x4,.s8x4}", "d, a, b", "sum of four packed bytes"),
        ("Integer arithmetic: add", "add.sat{.u16x2,.s16x2,.u16,.s16,.u32,.u64,.s64}", "d, a, b", "sum that saturates"),
        ("Integer arithmetic: sub", "sub{.u16x2,.s16x2}", "d, a, b", "difference of two packed 16-bit integers"),
        ("Integer arithmetic: sub", "sub{,.sat}{.u8x4,.s8x4}", "d, a, b", "difference of four packed bytes"),
        ("Integer arithmetic: sub", "sub.sat{.u16x2,.s16x2,.u16,.s16,.u32,.u64,.s64}", "d, a, b", "difference that saturates"),
        ("Integer arithmetic: min", "min{,.relu}{.u8x4,.s8x4}", "d, a, b", "the smaller of two, in four packed bytes"),
        ("Integer arithmetic: max", "max{,.relu}{.u8x4,.s8x4}", "d, a, b", "the larger of two, in four packed bytes"),
    ]),
    ("packed f32 is not emulated yet", &[
        ("Floating point: add", "add{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "sum of two packed f32"),
        ("Floating point: sub", "sub{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "difference of two packed f32"),
        ("Floating point: mul", "mul{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "product of two packed f32"),
    ]),
    ("mixed precision is not emulated yet", &[
        ("Mixed-precision floating point: add", "add{,.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, c", "f32 with a half added or taken away"),
        ("Mixed-precision floating point: sub", "sub{,.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, c", "f32 with a half added or taken away"),
        ("Mixed-precision floating point: fma", "fma{.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, b, c", "product of two halves plus an f32"),
    ]),
    ("packed f32 is not emulated yet", &[
        ("Floating point: fma", "fma{.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b, c", "a times b plus c in two packed f32"),
    ]),
    ("three inputs are not emulated yet", &[
        ("Floating point: min", "min{,.ftz}{,.NaN}{,.abs}.f32", "d, a, b, c", "the smaller of three"),
        ("Floating point: max", "max{,.ftz}{,.NaN}{,.abs}.f32", "d, a, b, c", "the larger of three"),
    ]),
    ("the out-of-bounds NaN is not emulated yet", &[
        ("Half precision: fma.oob", "fma.rn.oob{,.relu}{.f16,.f16x2,.bf16,.bf16x2}", "d, a, b, c", "a times b plus c, where a special NaN counts as 0"),
    ]),
    ("a half as the result of comparing another type is not emulated", &[
        ("Half-precision comparison: set", "set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.and,.or,.xor}{,.ftz}.f16{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d, a, b{, c}", "f16 1.0 where two values compare"),
        ("Half-precision comparison: set", "set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.and,.or,.xor}.bf16{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d, a, b{, c}", "bf16 1.0 where two values compare"),
    ]),
    ("its predicate result is not emulated yet", &[
        ("Logic and shift: lop3", "lop3{.or,.and}.b32", "d|p, a, b, c, immLut, q", "any function of three bits, with a predicate"),
    ]),
    ("clamping to tf32 is not emulated yet", &[
        ("Conversion: cvt", "cvt.*.satfinite.tf32.f32", "d, a", "f32 to tf32, clamped"),
    ]),
    ("8-bit floats and narrower ones are not emulated yet", &[
        ("Conversion: cvt", "cvt.*{.e4m3x2,.e5m2x2,.e2m1x2,.e2m3x2,.e3m2x2,.ue8m0x2,.e4m3x4,.e5m2x4,.e2m1x4,.e2m3x4,.e3m2x4,.s2f6x2}.*", "d, a{, b}{, c}{, e}{, f}", "packed 8-, 6- or 4-bit floats"),
    ]),
    ("stochastic rounding is not emulated yet", &[
        ("Conversion: cvt", "cvt.rs{,.relu}{,.satfinite}{.f16x2,.bf16x2}.f32", "d, a, b, c", "two f32 to packed halves with random bits"),
    ]),
    ("128-bit registers are not emulated yet", &[
        ("Data movement: mov", "mov.b128", "d, a", "copy of 128 bits"),
    ]),
    ("accesses wider than 128 bits and 128-bit registers are not emulated yet", &[
        ("Data movement: ld", "ld.*.v8.*", "d, [a]{, policy}", "256 bits at once"),
        ("Data movement: ld", "ld.*.v4{.b64,.u64,.s64,.f64}", "d, [a]{, policy}", "256 bits at once"),
        ("Data movement: ld", "ld.*.b128", "d, [a]{, policy}", "128 bits in one register"),
        ("Data movement: ld", "ld.*.unified.*", "d, [a]{, policy}", "unified address"),
        ("Data movement: ldu", "ldu.*.v8.*", "d, [a]", "256 bits at once"),
        ("Data movement: ldu", "ldu.*.v4{.b64,.u64,.s64,.f64}", "d, [a]", "256 bits at once"),
        ("Data movement: ldu", "ldu.*.b128", "d, [a]", "128 bits in one register"),
        ("Data movement: ldu", "ldu.*.unified.*", "d, [a]", "unified address"),
        ("Data movement: st", "st.*.v8.*", "[a], b{, policy}", "256 bits at once"),
        ("Data movement: st", "st.*.v4{.b64,.u64,.s64,.f64}", "[a], b{, policy}", "256 bits at once"),
        ("Data movement: st", "st.*.b128", "[a], b{, policy}", "128 bits in one register"),
        ("Data movement: st", "st.*.unified.*", "[a], b{, policy}", "unified address"),
    ]),
    ("carry-less multiplication is not emulated yet", &[
        ("Integer arithmetic: clmad", "clmad.*", "d, a, b, c", "carry-less product plus c"),
    ]),
    ("several devices are not emulated", &[
        ("Data movement: fabric", "fabric.*", "{a}{, b}{, c}{, d}{, e}{, f}", "transfers between devices"),
    ]),
    ("asynchronous stores to other blocks are not emulated yet", &[
        ("Data movement: st.async", "st.async.*", "[a], b{, mbar}", "asynchronous store to another block"),
    ]),
    ("bulk operations are not emulated yet", &[
        ("Data movement: st.bulk", "st.bulk.*", "[a], size, value", "many bytes set"),
    ]),
    ("several devices are not emulated", &[
        ("Data movement: multimem", "multimem.ld_reduce.*", "d, [a]", "reduction over several devices"),
        ("Data movement: multimem", "multimem.st.*", "[a], b", "store to several devices"),
        ("Data movement: multimem", "multimem.red.*", "[a], b", "reduction into several devices"),
        ("Data movement: multimem", "multimem.cp.async.bulk.*", "[d], [a], size", "copy to several devices"),
        ("Data movement: multimem", "multimem.cp.reduce.async.bulk.*", "[d], [a], size", "reduction into several devices"),
    ]),
    ("cache policies are not emulated yet", &[
        ("Data movement: createpolicy", "createpolicy.*", "policy, a{, b}{, c}", "makes a cache policy"),
    ]),
    ("bulk copies are not emulated yet", &[
        ("Asynchronous copy: cp.async.bulk", "cp.async.bulk.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}", "copies many bytes or a tensor tile in the background"),
        ("Asynchronous copy: cp.async.bulk", "cp.reduce.async.bulk.*", "{a}{, b}{, c}{, d}{, e}", "reduces many bytes in the background"),
    ]),
    ("only 1-D and 2-D fetches of four 32-bit values are emulated", &[
        ("Texture: tex", "tex.*", "d, [a, c]{, e}{, f}{, g}{, h}{, i}", "other texture fetches"),
    ]),
    ("gathers, queries and surfaces are not emulated yet", &[
        ("Texture: tld4", "tld4.*", "d, [a, c]{, e}{, f}", "gather of four texels"),
        ("Texture: txq", "txq.*", "d, [a]{, lod}", "texture query"),
        ("Texture: istypep", "istypep.*", "p, a", "whether a handle is of a kind"),
        ("Surface: suld", "suld.*", "d, [a, b]", "surface load"),
        ("Surface: sust", "sust.*", "[a, b], c", "surface store"),
        ("Surface: sured", "sured.*", "[a, b], c", "surface reduction"),
        ("Surface: suq", "suq.*", "d, [a]", "surface query"),
    ]),
    ("this form is not emulated yet", &[
        ("Synchronisation: fence", "fence.proxy.*", "{[a], size}", "orders accesses of different kinds"),
        ("Synchronisation: fence", "membar.proxy.*", "", "orders accesses of different kinds"),
        ("Synchronisation: fence", "fence.mbarrier_init.*", "", "orders the set-up of an mbarrier"),
        ("Synchronisation: fence", "fence.acquire.sync_restrict.*", "", "orders accesses of a cluster"),
        ("Synchronisation: fence", "fence.release.sync_restrict.*", "", "orders accesses of a cluster"),
    ]),
    ("128-bit registers are not emulated yet", &[
        ("Synchronisation: atom", "atom.*.b128", "d, [a], b{, c}{, e}", "128-bit atomics"),
    ]),
    ("vector atomics are not emulated yet", &[
        ("Synchronisation: atom", "atom.*{.v2,.v4,.v8}.*", "d, [a], b{, c}", "atomics on vectors"),
        ("Synchronisation: red", "red.*{.v2,.v4,.v8}.*", "[a], b{, c}", "reductions of vectors"),
    ]),
    ("asynchronous reductions in other blocks are not emulated yet", &[
        ("Synchronisation: red.async", "red.async.*", "[a], b{, c}", "asynchronous reduction"),
    ]),
    ("float reductions are not emulated yet", &[
        ("Synchronisation: redux.sync", "redux.sync{.min,.max}{,.abs}{,.NaN}.f32", "d, a, membermask", "float minimum or maximum over the lanes"),
    ]),
    ("programmatic dependent launch is not emulated yet", &[
        ("Synchronisation: griddepcontrol", "griddepcontrol{.launch_dependents,.wait}", "", "orders dependent grids"),
    ]),
    ("this form is not emulated yet", &[
        ("Synchronisation: mbarrier", "mbarrier.*", "{a}{, b}{, c}{, d}", "barriers in shared memory"),
    ]),
    ("it came with compute capability 10.0, and the emulated device has 9.0", &[
        ("Synchronisation: clusterlaunchcontrol", "clusterlaunchcontrol.*", "{a}{, b}{, c}", "work stealing between clusters"),
    ]),
    ("it came with compute capability 12.0, and the emulated device has 9.0", &[
        ("Matrix: mma", "mma.*{.kind::f8f6f4,.kind::mxf4,.kind::mxf4nvf4,.kind::mxf8f6f4}.*", "d, a, b, c{, e}{, f}{, g}{, h}{, i}{, j}", "product of tiles of small floats"),
        ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned{.m16n8k32.row.col.f32,.m16n8k32.row.col.f16,.m16n8k64.row.col.f16}{.e4m3,.e5m2}{.e4m3,.e5m2}{.f16,.f32}", "d, a, b, c, e, f", "product of a sparse tile"),
    ]),
    ("shapes for compute capability 7.0 are not emulated", &[
        ("Matrix: mma", "mma.*.m8n8k4.*", "d, a, b, c", "four products of 8x8 tiles"),
    ]),
    ("this shape or type is not emulated yet", &[
        ("Matrix: wmma", "wmma.*", "{a}{, b}{, c}{, d}", "tensor-core product"),
    ]),
    ("it came with compute capability 10.0, and the emulated device has 9.0", &[
        ("Matrix: ldmatrix", "ldmatrix.*{.m16n16,.m8n16}.*", "d, [a]", "loads matrices of elements of up to 8 bits"),
        ("Matrix: stmatrix", "stmatrix.*.m16n8.*", "[a], b", "stores matrices of 8-bit elements"),
    ]),
    ("of the products of warpgroups, those of integers, single bits and sparse matrices are not emulated yet", &[
        ("Matrix: wgmma", "wgmma.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}{, h}{, i}{, j}", "tensor-core product of four warps"),
    ]),
    ("tensor-core instructions are not emulated yet", &[
        ("Matrix: tcgen05", "tcgen05.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}{, h}{, i}{, j}", "fifth-generation tensor cores"),
    ]),
    ("variable-length arrays are not emulated yet", &[
        ("Miscellaneous: stack", "stacksave{.u32,.u64}", "d", "reads the stack pointer"),
        ("Miscellaneous: stack", "stackrestore{.u32,.u64}", "a", "sets the stack pointer"),
        ("Miscellaneous: stack", "alloca{.u32,.u64}", "ptr, size{, align}", "space on the stack"),
    ]),
    ("video instructions are not emulated yet", &[
        ("Video: vadd", "vadd.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vsub", "vsub.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vmin", "vmin.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vmax", "vmax.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vshl", "vshl.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vshr", "vshr.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vmad", "vmad.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vset", "vset.*", "d, a, b{, c}{, e}", "scalar video instruction"),
        ("Video: vadd2, vadd4", "vadd2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vadd2, vadd4", "vadd4.*", "d, a, b, c", "video instruction on four bytes"),
        ("Video: vsub2, vsub4", "vsub2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vsub2, vsub4", "vsub4.*", "d, a, b, c", "video instruction on four bytes"),
        ("Video: vavrg2, vavrg4", "vavrg2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vavrg2, vavrg4", "vavrg4.*", "d, a, b, c", "video instruction on four bytes"),
        ("Video: vmin2, vmin4", "vmin2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vmin2, vmin4", "vmin4.*", "d, a, b, c", "video instruction on four bytes"),
        ("Video: vmax2, vmax4", "vmax2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vmax2, vmax4", "vmax4.*", "d, a, b, c", "video instruction on four bytes"),
        ("Video: vset2, vset4", "vset2.*", "d, a, b, c", "video instruction on two halves"),
        ("Video: vset2, vset4", "vset4.*", "d, a, b, c", "video instruction on four bytes"),
    ]),
];
