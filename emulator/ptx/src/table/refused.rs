//! Valid instructions that are not emulated, each with the reason.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Integer arithmetic: add", refused: Some("it came with PTX 9.2, which is not emulated yet"), rows: &[
        ("add{,.sat}{.u8x4,.s8x4}", "d, a, b", "sum of four packed bytes"),
        ("add.sat{.u16x2,.s16x2,.u16,.s16,.u32,.u64,.s64}", "d, a, b", "sum that saturates"),
    ] },
    Section { title: "Integer arithmetic: sub", refused: Some("it came with PTX 9.2, which is not emulated yet"), rows: &[
        ("sub{.u16x2,.s16x2}", "d, a, b", "difference of two packed 16-bit integers"),
        ("sub{,.sat}{.u8x4,.s8x4}", "d, a, b", "difference of four packed bytes"),
        ("sub.sat{.u16x2,.s16x2,.u16,.s16,.u32,.u64,.s64}", "d, a, b", "difference that saturates"),
    ] },
    Section { title: "Integer arithmetic: min", refused: Some("it came with PTX 9.2, which is not emulated yet"), rows: &[
        ("min{,.relu}{.u8x4,.s8x4}", "d, a, b", "the smaller of two, in four packed bytes"),
    ] },
    Section { title: "Integer arithmetic: max", refused: Some("it came with PTX 9.2, which is not emulated yet"), rows: &[
        ("max{,.relu}{.u8x4,.s8x4}", "d, a, b", "the larger of two, in four packed bytes"),
    ] },
    Section { title: "Floating point: add", refused: Some("packed f32 is not emulated yet"), rows: &[
        ("add{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "sum of two packed f32"),
    ] },
    Section { title: "Floating point: sub", refused: Some("packed f32 is not emulated yet"), rows: &[
        ("sub{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "difference of two packed f32"),
    ] },
    Section { title: "Floating point: mul", refused: Some("packed f32 is not emulated yet"), rows: &[
        ("mul{,.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b", "product of two packed f32"),
    ] },
    Section { title: "Mixed-precision floating point: add", refused: Some("mixed precision is not emulated yet"), rows: &[
        ("add{,.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, c", "f32 with a half added or taken away"),
    ] },
    Section { title: "Mixed-precision floating point: sub", refused: Some("mixed precision is not emulated yet"), rows: &[
        ("sub{,.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, c", "f32 with a half added or taken away"),
    ] },
    Section { title: "Mixed-precision floating point: fma", refused: Some("mixed precision is not emulated yet"), rows: &[
        ("fma{.rn,.rz,.rm,.rp}{,.sat}.f32{.f16,.bf16}", "d, a, b, c", "product of two halves plus an f32"),
    ] },
    Section { title: "Floating point: fma", refused: Some("packed f32 is not emulated yet"), rows: &[
        ("fma{.rn,.rz,.rm,.rp}{,.ftz}.f32x2", "d, a, b, c", "a times b plus c in two packed f32"),
    ] },
    Section { title: "Floating point: min", refused: Some("three inputs are not emulated yet"), rows: &[
        ("min{,.ftz}{,.NaN}{,.abs}.f32", "d, a, b, c", "the smaller of three"),
    ] },
    Section { title: "Floating point: max", refused: Some("three inputs are not emulated yet"), rows: &[
        ("max{,.ftz}{,.NaN}{,.abs}.f32", "d, a, b, c", "the larger of three"),
    ] },
    Section { title: "Half precision: fma.oob", refused: Some("the out-of-bounds NaN is not emulated yet"), rows: &[
        ("fma.rn.oob{,.relu}{.f16,.f16x2,.bf16,.bf16x2}", "d, a, b, c", "a times b plus c, where a special NaN counts as 0"),
    ] },
    Section { title: "Half-precision comparison: set", refused: Some("a half as the result of comparing another type is not emulated"), rows: &[
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.and,.or,.xor}{,.ftz}.f16{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d, a, b{, c}", "f16 1.0 where two values compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.and,.or,.xor}.bf16{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d, a, b{, c}", "bf16 1.0 where two values compare"),
    ] },
    Section { title: "Logic and shift: lop3", refused: Some("its predicate result is not emulated yet"), rows: &[
        ("lop3{.or,.and}.b32", "d|p, a, b, c, immLut, q", "any function of three bits, with a predicate"),
    ] },
    Section { title: "Conversion: cvt", refused: Some("clamping to tf32 is not emulated yet"), rows: &[
        ("cvt.*.satfinite.tf32.f32", "d, a", "f32 to tf32, clamped"),
    ] },
    Section { title: "Conversion: cvt", refused: Some("8-bit floats and narrower ones are not emulated yet"), rows: &[
        ("cvt.*{.e4m3x2,.e5m2x2,.e2m1x2,.e2m3x2,.e3m2x2,.ue8m0x2,.e4m3x4,.e5m2x4,.e2m1x4,.e2m3x4,.e3m2x4,.s2f6x2}.*", "d, a{, b}{, c}{, e}{, f}", "packed 8-, 6- or 4-bit floats"),
    ] },
    Section { title: "Conversion: cvt", refused: Some("stochastic rounding is not emulated yet"), rows: &[
        ("cvt.rs{,.relu}{,.satfinite}{.f16x2,.bf16x2}.f32", "d, a, b, c", "two f32 to packed halves with random bits"),
    ] },
    Section { title: "Data movement: mov", refused: Some("128-bit registers are not emulated yet"), rows: &[
        ("mov.b128", "d, a", "copy of 128 bits"),
    ] },
    Section { title: "Data movement: ld", refused: Some("accesses wider than 128 bits and 128-bit registers are not emulated yet"), rows: &[
        ("ld.*.v8.*", "d, [a]{, policy}", "256 bits at once"),
        ("ld.*.v4{.b64,.u64,.s64,.f64}", "d, [a]{, policy}", "256 bits at once"),
        ("ld.*.b128", "d, [a]{, policy}", "128 bits in one register"),
        ("ld.*.unified.*", "d, [a]{, policy}", "unified address"),
    ] },
    Section { title: "Data movement: ldu", refused: Some("accesses wider than 128 bits and 128-bit registers are not emulated yet"), rows: &[
        ("ldu.*.v8.*", "d, [a]", "256 bits at once"),
        ("ldu.*.v4{.b64,.u64,.s64,.f64}", "d, [a]", "256 bits at once"),
        ("ldu.*.b128", "d, [a]", "128 bits in one register"),
        ("ldu.*.unified.*", "d, [a]", "unified address"),
    ] },
    Section { title: "Data movement: st", refused: Some("accesses wider than 128 bits and 128-bit registers are not emulated yet"), rows: &[
        ("st.*.v8.*", "[a], b{, policy}", "256 bits at once"),
        ("st.*.v4{.b64,.u64,.s64,.f64}", "[a], b{, policy}", "256 bits at once"),
        ("st.*.b128", "[a], b{, policy}", "128 bits in one register"),
        ("st.*.unified.*", "[a], b{, policy}", "unified address"),
    ] },
    Section { title: "Integer arithmetic: clmad", refused: Some("carry-less multiplication is not emulated yet"), rows: &[
        ("clmad.*", "d, a, b, c", "carry-less product plus c"),
    ] },
    Section { title: "Data movement: fabric", refused: Some("several devices are not emulated"), rows: &[
        ("fabric.*", "{a}{, b}{, c}{, d}{, e}{, f}", "transfers between devices"),
    ] },
    Section { title: "Data movement: st.async", refused: Some("asynchronous stores to other blocks are not emulated yet"), rows: &[
        ("st.async.*", "[a], b{, mbar}", "asynchronous store to another block"),
    ] },
    Section { title: "Data movement: st.bulk", refused: Some("bulk operations are not emulated yet"), rows: &[
        ("st.bulk.*", "[a], size, value", "many bytes set"),
    ] },
    Section { title: "Data movement: multimem", refused: Some("several devices are not emulated"), rows: &[
        ("multimem.ld_reduce.*", "d, [a]", "reduction over several devices"),
        ("multimem.st.*", "[a], b", "store to several devices"),
        ("multimem.red.*", "[a], b", "reduction into several devices"),
        ("multimem.cp.async.bulk.*", "[d], [a], size", "copy to several devices"),
        ("multimem.cp.reduce.async.bulk.*", "[d], [a], size", "reduction into several devices"),
    ] },
    Section { title: "Data movement: createpolicy", refused: Some("cache policies are not emulated yet"), rows: &[
        ("createpolicy.*", "policy, a{, b}{, c}", "makes a cache policy"),
    ] },
    Section { title: "Asynchronous copy: cp.async.bulk", refused: Some("bulk copies are not emulated yet"), rows: &[
        ("cp.async.bulk.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}", "copies many bytes or a tensor tile in the background"),
        ("cp.reduce.async.bulk.*", "{a}{, b}{, c}{, d}{, e}", "reduces many bytes in the background"),
    ] },
    Section { title: "Texture: tex", refused: Some("only 1-D and 2-D fetches of four 32-bit values are emulated"), rows: &[
        ("tex.*", "d, [a, c]{, e}{, f}{, g}{, h}{, i}", "other texture fetches"),
    ] },
    Section { title: "Texture: tld4", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("tld4.*", "d, [a, c]{, e}{, f}", "gather of four texels"),
    ] },
    Section { title: "Texture: txq", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("txq.*", "d, [a]{, lod}", "texture query"),
    ] },
    Section { title: "Texture: istypep", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("istypep.*", "p, a", "whether a handle is of a kind"),
    ] },
    Section { title: "Surface: suld", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("suld.*", "d, [a, b]", "surface load"),
    ] },
    Section { title: "Surface: sust", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("sust.*", "[a, b], c", "surface store"),
    ] },
    Section { title: "Surface: sured", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("sured.*", "[a, b], c", "surface reduction"),
    ] },
    Section { title: "Surface: suq", refused: Some("gathers, queries and surfaces are not emulated yet"), rows: &[
        ("suq.*", "d, [a]", "surface query"),
    ] },
    Section { title: "Synchronisation: fence", refused: Some("this form is not emulated yet"), rows: &[
        ("fence.proxy.*", "{[a], size}", "orders accesses of different kinds"),
        ("membar.proxy.*", "", "orders accesses of different kinds"),
        ("fence.mbarrier_init.*", "", "orders the set-up of an mbarrier"),
        ("fence.acquire.sync_restrict.*", "", "orders accesses of a cluster"),
        ("fence.release.sync_restrict.*", "", "orders accesses of a cluster"),
    ] },
    Section { title: "Synchronisation: atom", refused: Some("128-bit registers are not emulated yet"), rows: &[
        ("atom.*.b128", "d, [a], b{, c}{, e}", "128-bit atomics"),
    ] },
    Section { title: "Synchronisation: atom", refused: Some("vector atomics are not emulated yet"), rows: &[
        ("atom.*{.v2,.v4,.v8}.*", "d, [a], b{, c}", "atomics on vectors"),
    ] },
    Section { title: "Synchronisation: red", refused: Some("vector atomics are not emulated yet"), rows: &[
        ("red.*{.v2,.v4,.v8}.*", "[a], b{, c}", "reductions of vectors"),
    ] },
    Section { title: "Synchronisation: red.async", refused: Some("asynchronous reductions in other blocks are not emulated yet"), rows: &[
        ("red.async.*", "[a], b{, c}", "asynchronous reduction"),
    ] },
    Section { title: "Synchronisation: redux.sync", refused: Some("float reductions are not emulated yet"), rows: &[
        ("redux.sync{.min,.max}{,.abs}{,.NaN}.f32", "d, a, membermask", "float minimum or maximum over the lanes"),
    ] },
    Section { title: "Synchronisation: griddepcontrol", refused: Some("programmatic dependent launch is not emulated yet"), rows: &[
        ("griddepcontrol{.launch_dependents,.wait}", "", "orders dependent grids"),
    ] },
    Section { title: "Synchronisation: mbarrier", refused: Some("this form is not emulated yet"), rows: &[
        ("mbarrier.*", "{a}{, b}{, c}{, d}", "barriers in shared memory"),
    ] },
    Section { title: "Synchronisation: clusterlaunchcontrol", refused: Some("it came with compute capability 10.0, and the emulated device has 9.0"), rows: &[
        ("clusterlaunchcontrol.*", "{a}{, b}{, c}", "work stealing between clusters"),
    ] },
    Section { title: "Matrix: mma", refused: Some("sparse matrices are not emulated yet"), rows: &[
        ("mma{.sp,.sp::ordered_metadata}.*", "d, a, b, c{, e}{, f}{, g}{, h}{, i}{, j}", "product of sparse tiles"),
    ] },
    Section { title: "Matrix: mma", refused: Some("this shape or type is not emulated yet: integers, single bits, and shapes of other architectures"), rows: &[
        ("mma.*", "d, a, b, c{, e}{, f}{, g}{, h}{, i}{, j}", "tensor-core product"),
    ] },
    Section { title: "Matrix: wmma", refused: Some("this shape or type is not emulated yet"), rows: &[
        ("wmma.*", "{a}{, b}{, c}{, d}", "tensor-core product"),
    ] },
    Section { title: "Matrix: ldmatrix", refused: Some("only matrices of 8x8 elements of 16 bits are emulated"), rows: &[
        ("ldmatrix.*", "d, [a]", "loads tiles for tensor cores"),
    ] },
    Section { title: "Matrix: stmatrix", refused: Some("only matrices of 8x8 elements of 16 bits are emulated"), rows: &[
        ("stmatrix.*", "[a], b", "stores tiles of tensor cores"),
    ] },
    Section { title: "Matrix: wgmma", refused: Some("of the products of warpgroups, those of integers, single bits and sparse matrices are not emulated yet"), rows: &[
        ("wgmma.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}{, h}{, i}{, j}", "tensor-core product of four warps"),
    ] },
    Section { title: "Matrix: tcgen05", refused: Some("tensor-core instructions are not emulated yet"), rows: &[
        ("tcgen05.*", "{a}{, b}{, c}{, d}{, e}{, f}{, g}{, h}{, i}{, j}", "fifth-generation tensor cores"),
    ] },
    Section { title: "Miscellaneous: stack", refused: Some("variable-length arrays are not emulated yet"), rows: &[
        ("stacksave{.u32,.u64}", "d", "reads the stack pointer"),
        ("stackrestore{.u32,.u64}", "a", "sets the stack pointer"),
        ("alloca{.u32,.u64}", "ptr, size{, align}", "space on the stack"),
    ] },
    Section { title: "Video: vadd", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vadd.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vsub", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vsub.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vmin", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vmin.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vmax", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vmax.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vshl", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vshl.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vshr", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vshr.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vmad", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vmad.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vset", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vset.*", "d, a, b{, c}{, e}", "scalar video instruction"),
    ] },
    Section { title: "Video: vadd2, vadd4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vadd2.*", "d, a, b, c", "video instruction on two halves"),
        ("vadd4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
    Section { title: "Video: vsub2, vsub4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vsub2.*", "d, a, b, c", "video instruction on two halves"),
        ("vsub4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
    Section { title: "Video: vavrg2, vavrg4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vavrg2.*", "d, a, b, c", "video instruction on two halves"),
        ("vavrg4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
    Section { title: "Video: vmin2, vmin4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vmin2.*", "d, a, b, c", "video instruction on two halves"),
        ("vmin4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
    Section { title: "Video: vmax2, vmax4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vmax2.*", "d, a, b, c", "video instruction on two halves"),
        ("vmax4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
    Section { title: "Video: vset2, vset4", refused: Some("video instructions are not emulated yet"), rows: &[
        ("vset2.*", "d, a, b, c", "video instruction on two halves"),
        ("vset4.*", "d, a, b, c", "video instruction on four bytes"),
    ] },
];
