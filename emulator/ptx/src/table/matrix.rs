//! Tensor cores: products of tiles by one warp, and moves of tiles between registers and memory.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    ("Matrix: mma", "mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.bf16.bf16.f32", "d, a, b, c", "product of tiles"),
    ("Matrix: mma", "mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col{.f32.f16.f16.f32,.f16.f16.f16.f16}", "d, a, b, c", "product of tiles"),
    ("Matrix: mma", "mma.sync.aligned{.m16n8k4,.m16n8k8}.row.col.f32.tf32.tf32.f32", "d, a, b, c", "product of tiles"),
    ("Matrix: mma", "mma.sync.aligned{.m16n8k16,.m16n8k32}.row.col{.f32.e4m3.e4m3.f32,.f32.e4m3.e5m2.f32,.f32.e5m2.e4m3.f32,.f32.e5m2.e5m2.f32,.f16.e4m3.e4m3.f16,.f16.e4m3.e5m2.f16,.f16.e5m2.e4m3.f16,.f16.e5m2.e5m2.f16}", "d, a, b, c", "product of tiles"),
    ("Matrix: mma", "mma.sync.aligned{.m8n8k4,.m16n8k4,.m16n8k8,.m16n8k16}.row.col.f64.f64.f64.f64", "d, a, b, c", "product of tiles"),
    ("Matrix: mma", "mma.sync.aligned{.m8n8k16,.m16n8k16,.m16n8k32}.row.col{,.satfinite}.s32{.u8,.s8}{.u8,.s8}.s32", "d, a, b, c", "product of tiles of integers"),
    ("Matrix: mma", "mma.sync.aligned{.m8n8k32,.m16n8k32,.m16n8k64}.row.col{,.satfinite}.s32{.u4,.s4}{.u4,.s4}.s32", "d, a, b, c", "product of tiles of integers"),
    ("Matrix: mma", "mma.sync.aligned{.m8n8k128,.m16n8k128,.m16n8k256}.row.col.s32.b1.b1.s32{.xor,.and}.popc", "d, a, b, c", "counts of common or different bits"),
    ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned{.m16n8k16,.m16n8k32}.row.col{.f32.f16.f16.f32,.f16.f16.f16.f16,.f32.bf16.bf16.f32}", "d, a, b, c, e, f", "product of a sparse tile"),
    ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.tf32.tf32.f32", "d, a, b, c, e, f", "product of a sparse tile"),
    ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned.m16n8k64.row.col.f32{.e4m3,.e5m2}{.e4m3,.e5m2}.f32", "d, a, b, c, e, f", "product of a sparse tile"),
    ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned{.m16n8k32,.m16n8k64}.row.col{,.satfinite}.s32{.u8,.s8}{.u8,.s8}.s32", "d, a, b, c, e, f", "product of a sparse tile of integers"),
    ("Matrix: mma.sp", "mma{.sp,.sp::ordered_metadata}.sync.aligned{.m16n8k64,.m16n8k128}.row.col{,.satfinite}.s32{.u4,.s4}{.u4,.s4}.s32", "d, a, b, c, e, f", "product of a sparse tile of integers"),
    ("Matrix: wmma", "wmma.load{.a,.b}.sync.aligned{.row,.col}{.m16n16k16,.m32n8k16,.m8n32k16}{,.global,.shared,.shared::cta}{.f16,.bf16}", "d, [a]{, b}", "loads a fragment of a factor"),
    ("Matrix: wmma", "wmma.load{.a,.b}.sync.aligned{.row,.col}.m16n16k8{,.global,.shared,.shared::cta}.tf32", "d, [a]{, b}", "loads a fragment of a factor"),
    ("Matrix: wmma", "wmma.load.c.sync.aligned{.row,.col}{.m16n16k16,.m32n8k16,.m8n32k16}{,.global,.shared,.shared::cta}{.f16,.f32}", "d, [a]{, b}", "loads a fragment of sums"),
    ("Matrix: wmma", "wmma.load.c.sync.aligned{.row,.col}.m16n16k8{,.global,.shared,.shared::cta}.f32", "d, [a]{, b}", "loads a fragment of sums"),
    ("Matrix: wmma", "wmma.load{.a,.b,.c}.sync.aligned{.row,.col}.m8n8k4{,.global,.shared,.shared::cta}.f64", "d, [a]{, b}", "loads a fragment"),
    ("Matrix: wmma", "wmma.store.d.sync.aligned{.row,.col}{.m16n16k16,.m32n8k16,.m8n32k16}{,.global,.shared,.shared::cta}{.f16,.f32}", "[a], b{, c}", "stores a fragment of sums"),
    ("Matrix: wmma", "wmma.store.d.sync.aligned{.row,.col}.m16n16k8{,.global,.shared,.shared::cta}.f32", "[a], b{, c}", "stores a fragment of sums"),
    ("Matrix: wmma", "wmma.store.d.sync.aligned{.row,.col}.m8n8k4{,.global,.shared,.shared::cta}.f64", "[a], b{, c}", "stores a fragment of sums"),
    ("Matrix: wmma", "wmma.mma.sync.aligned{.row,.col}{.row,.col}{.m16n16k16,.m32n8k16,.m8n32k16}{.f16.f16,.f32.f32,.f32.bf16.bf16.f32}", "d, a, b, c", "product of fragments"),
    ("Matrix: wmma", "wmma.mma.sync.aligned{.row,.col}{.row,.col}.m16n16k8.f32.tf32.tf32.f32", "d, a, b, c", "product of fragments"),
    ("Matrix: wmma", "wmma.mma.sync.aligned{.row,.col}{.row,.col}.m8n8k4{,.rn}.f64.f64.f64.f64", "d, a, b, c", "product of fragments"),
    ("Matrix: ldmatrix", "ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{,.trans}{,.shared,.shared::cta}.b16", "d, [a]", "loads matrices of 8x8 elements from rows in shared memory"),
    ("Matrix: stmatrix", "stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{,.trans}{,.shared,.shared::cta}.b16", "[a], b", "stores matrices of 8x8 elements to rows in shared memory"),
    ("Matrix: movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16", "d, a", "transposes a matrix of 8x8 elements"),
];
