//! Tensor cores, one warp at a time: MMA, and moves of 8x8 matrices into the lanes' registers.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x03c, "rr", "HMMA{.1688,.16816}@75{.F16,.F32}@76", "R@16 = A B R@64", "sm_80 sm_90", "product of matrices of f16 plus C"),
    (0x03c, "rr", "HMMA{.1688,.16816}@75.F32.BF16", "R@16 = A B R@64", "76..77=1 82..83=1 sm_80 sm_90", "product of matrices of bf16 plus C"),
    (0x03c, "rr", "HMMA{.1688,.1684}@78.F32.TF32", "R@16 = A B R@64", "76..77=1 83..84=1 sm_80 sm_90", "product of matrices of tf32 plus C"),
    (0x03c, "rr", "HMMA.SP{.16816,.16832}@78{.F16,.F32}@76", "R@16 = A B R@64 R@40 I@48+2", "73..74=1 75..76=1 sm_90", "product of a sparse matrix of f16 plus C"),
    (0x03c, "rr", "HMMA.SP{.16816,.16832}@78.F32.BF16", "R@16 = A B R@64 R@40 I@48+2", "73..74=1 75..77=3 82..83=1 sm_90", "product of a sparse matrix of bf16 plus C"),
    (0x03c, "rr", "HMMA.SP{.1688,.16816}@75.F32.TF32", "R@16 = A B R@64 R@40 I@48+2", "73..74=1 76..77=1 83..84=1 sm_90", "product of a sparse matrix of tf32 plus C"),
    (0x037, "rr", "IMMA.8816{.U8,.S8}@76{.U8,.S8}@78{,.SAT}@82", "R@16 = A B R@64", "74..75=1 sm_90", "product of matrices of bytes plus C"),
    (0x037, "rr", "IMMA{.16816,.16832}@75{.U8,.S8}@76{.U8,.S8}@78{,.SAT}@82", "R@16 = A B R@64", "74..75=1 85..87=2 sm_90", "product of matrices of bytes plus C"),
    (0x037, "rr", "IMMA.SP.16832{.U8,.S8}@76{.U8,.S8}@78{,.SAT}@82", "R@16 = A B R@64 R@40 I@48+2", "72..73=1 74..76=3 85..87=2 sm_90", "product of a sparse matrix of bytes plus C"),
    (0x037, "rr", "IMMA.SP.16864{.U8,.S8}@76{.U8,.S8}@78{,.SAT}@82", "R@16 = A B R@64 R@40 I@48+2", "72..73=1 74..75=1 85..87=3 sm_90", "product of a sparse matrix of bytes plus C"),
    (0x03d, "rr", "BMMA{.88128,.168128,.168256}@75.AND.POPC", "R@16 = A B R@64", "74..75=1 78..79=1 80..81=1 sm_90", "bits that rows and columns share, plus C"),
    (0x03f, "rr", "DMMA{.8x8x4,.16x8x4,.16x8x8,.16x8x16}@76{,.RM,.RP,.RZ}@78", "R@16 = A B R@64", "sm_90", "product of matrices of doubles plus C"),
    (0x03a, "rr", "MOVM.16.MT88", "R@16 = R@24", "sm_80 sm_90", "transpose an 8x8 matrix in registers"),
    (0x03b, "ir", "LDSM.16{.M88,.MT88}@78{,.2,.4}@72", "R@16 = local@32", "sm_80 sm_90", "load 8x8 matrices from shared memory"),
    (0x044, "ir", "STSM.16{.M88,.MT88}@78{,.2,.4}@72", "= local@64 R@32", "sm_90", "store 8x8 matrices to shared memory"),
];
