//! Loads, stores and atomics.

use super::RowText;

/// Fields that several rows share.
#[rustfmt::skip]
macro_rules! words {
    // Order in which the line leaves the cache.
    (eviction) => { "{.EF,,.EL,.LU,.EU,.NA}@84" };
    // Width of the access.
    (width) => { "{.U8,.S8,.U16,.S16,,.64,.128}@73" };
    // Width of a compare and swap.
    (cas_width) => { "{,?,.64}@73" };
    // Strength and scope, from sm_80 on.
    (scope) => { "{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS,?,.MMIO.SYS}@77" };
    // Strength and scope on sm_75, where constants have a number of their own.
    (load_scope_sm75) => { "{.CONSTANT.CTA,.CONSTANT.SM,.CONSTANT.GPU,.CONSTANT.SYS,.CTA,.SM,.GPU,.SYS,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS,.MMIO.CTA,.MMIO.SM,.MMIO.GPU,.MMIO.SYS}@77" };
    // On sm_75 a store has no constants, and an atomic no `.MMIO`.
    (store_scope_sm75) => { "{?,?,?,?,.CTA,.SM,.GPU,.SYS,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS,.MMIO.CTA,.MMIO.SM,.MMIO.GPU,.MMIO.SYS}@77" };
    (atomic_scope_sm75) => { "{?,?,?,?,.CTA,.SM,.GPU,.SYS,.STRONG.CTA,.STRONG.SM,.STRONG.GPU,.STRONG.SYS,?,?,?,?}@77" };
    // Operation of an atomic, and of one without a result.
    (atomic) => { "{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR,.EXCH}@87" };
    (reduction) => { "{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR}@87" };
    // Type of an atomic: on sm_90 floats have rows of their own.
    (integer_type) => { "{,.S32,.64,.S64}@73" };
    // Before sm_90.
    (any_type) => { "{,.S32,.64,.F32.FTZ.RN,.F16x2.RN,.S64,.F64.RN}@73" };
    // On sm_90.
    (float_type) => { "{.F16x2.RN,?,?,.BF16x2.RN,?,?,?,?,?,.F32.FTZ.RN,?,?,?,?,?,.F64.RN}@73" };
}

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x182, "cr", "LDC{.U8,.S8,.U16,.S16,,.64}@73", "R@16 = K", "", "load from constant memory"),
    (0x0b9, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = c@38", "", "load from constant memory, for the warp"),
    (0x0bb, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = cu", "91..92=1", "the same, with an index"),
    (0x181, "rr ir", concat!("LDG.E", words!(eviction), "{,.LTC64B,.LTC128B,.LTC256B}@68", words!(width), "{,?,?,?,.CONSTANT,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS,?,.MMIO.SYS}@77"), "{P@81} R@16 = G@32", "72..73=1 sm_80 sm_90", "load from global memory"),
    (0x181, "rr ir", concat!("LDG.E", words!(eviction), "{,.LTC64B,.LTC128B}@68", words!(width), words!(load_scope_sm75)), "{P@81} R@16 = G@32", "72..73=1 76..77=0 sm_75", "load from global memory"),
    (0x186, "ir", concat!("STG.E", words!(eviction), words!(width), words!(scope)), "= G@64 R@32", "72..73=1 91..92=1 sm_80 sm_90", "store to global memory"),
    (0x186, "rr ir", concat!("STG.E", words!(eviction), words!(width), words!(store_scope_sm75)), "= G@64 R@32", "72..73=1 76..77=0 sm_75", "store to global memory"),
    (0x180, "ir", concat!("LD.E", words!(eviction), words!(width), words!(scope)), "R@16 = G@32", "72..73=1 91..92=1 sm_80 sm_90", "load from a generic address"),
    (0x180, "ir", concat!("LD.E", words!(eviction), words!(width), words!(load_scope_sm75)), "R@16 = G@32", "72..73=1 76..77=0 91..92=1 sm_75", "load from a generic address"),
    (0x180, "ir", concat!("LD.E", words!(eviction), words!(width), words!(scope)), "R@16 = far", "72..73=1 sm_80 sm_90", "load from a generic address"),
    (0x180, "ir", concat!("LD.E", words!(eviction), words!(width), words!(load_scope_sm75)), "R@16 = far", "72..73=1 sm_75", "load from a generic address"),
    (0x185, "ir", concat!("ST.E", words!(eviction), words!(width), words!(scope)), "= G@64 R@32", "72..73=1 91..92=1 sm_80 sm_90", "store to a generic address"),
    (0x185, "ir", concat!("ST.E", words!(eviction), words!(width), words!(store_scope_sm75)), "= G@64 R@32", "72..73=1 76..77=0 91..92=1 sm_75", "store to a generic address"),
    (0x185, "rr", concat!("ST.E", words!(eviction), words!(width), words!(scope)), "= far R@64", "72..73=1 sm_80 sm_90", "store to a generic address"),
    (0x185, "rr", concat!("ST.E", words!(eviction), words!(width), words!(store_scope_sm75)), "= far R@64", "72..73=1 sm_75", "store to a generic address"),
    (0x184, "rr ir", concat!("LDS", words!(width)), "R@16 = S@32", "sm_80 sm_90", "load from shared memory"),
    (0x184, "rr ir", concat!("LDS{,.U}@76", words!(width)), "R@16 = S@32", "sm_75", "load from shared memory"),
    (0x188, "rr ir", concat!("STS", words!(width)), "= S@64 R@32", "", "store to shared memory"),
    (0x183, "rr ir", concat!("LDL", words!(eviction), words!(width)), "R@16 = local@32", "", "load from local memory"),
    (0x187, "rr ir", concat!("STL", words!(eviction), words!(width)), "= local@64 R@32", "", "store to local memory"),
    (0x189, "rr", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A R@32 R@64", "", "a register of another lane"),
    (0x189, "ri", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A R@32 I@40+13", "", "a register of another lane"),
    (0x189, "ir", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A I@53+5 R@64", "", "a register of another lane"),
    (0x189, "ru", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A I@53+5 I@40+13", "", "a register of another lane"),
    (0x1a1, "rr", "MATCH.ALL{,.U64}@73", "P@81 R@16 = R@24", "", "the lanes with the same value, if it is that of all"),
    (0x1a1, "rr", "MATCH.ANY{,.U64}@73", "R@16 = R@24", "79..80=1 81..84=7", "the lanes with the same value"),
    (0x1ae, "ru", "LDGSTS.E{.BYPASS,}@81{,.LTC64B,.LTC128B,.LTC256B}@71{?,?,?,?,,.64,.128}@73{,.ZFILL}@82", "= to from {!P@87}", "70..71=1 84..85=1 91..92=1 sm_80 sm_90", "copy from global to shared memory"),
    (0x18a, "ir", concat!("ATOM.E", words!(atomic), words!(integer_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_90", "atomic at a generic address"),
    (0x18a, "ir", concat!("ATOM.E", words!(atomic), words!(any_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_80", "atomic at a generic address"),
    (0x1a8, "ir", concat!("ATOMG.E", words!(atomic), words!(integer_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_90", "atomic on global memory"),
    (0x1a8, "ir", concat!("ATOMG.E", words!(atomic), words!(any_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_80", "atomic on global memory"),
    (0x1a8, "ir", concat!("ATOMG.E", words!(atomic), words!(any_type), words!(atomic_scope_sm75)), "P@81 R@16 = atomic@64 R@32", "70..73=5 84..85=1 91..92=1 sm_75", "atomic on global memory"),
    (0x1a8, "rr", concat!("ATOMG.E", words!(atomic), words!(any_type), words!(atomic_scope_sm75)), "P@81 R@16 = atomic@64 R@32", "64..73=511 84..85=1 sm_75", "atomic on global memory"),
    (0x18b, "rr", concat!("ATOM.E.CAS", words!(cas_width), words!(scope)), "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1 sm_80 sm_90", "compare and swap at a generic address"),
    (0x18b, "rr", concat!("ATOM.E.CAS", words!(cas_width), words!(atomic_scope_sm75)), "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1 sm_75", "compare and swap at a generic address"),
    (0x1a9, "rr", concat!("ATOMG.E.CAS", words!(cas_width), words!(scope)), "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1 sm_80 sm_90", "compare and swap in global memory"),
    (0x1a9, "rr", concat!("ATOMG.E.CAS", words!(cas_width), words!(atomic_scope_sm75)), "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1 sm_75", "compare and swap in global memory"),
    (0x18e, "ir", concat!("REDG.E", words!(reduction), words!(integer_type), words!(scope)), "= atomic@64 R@32", "70..73=6 84..85=1 90..92=3 sm_90", "atomic on global memory, without its result"),
    (0x18e, "ir", concat!("RED.E", words!(reduction), words!(any_type), words!(scope)), "= atomic@64 R@32", "70..73=6 84..85=1 90..92=3 sm_80", "atomic on global memory, without its result"),
    (0x18e, "ir", concat!("RED.E", words!(reduction), words!(any_type), words!(atomic_scope_sm75)), "= atomic@64 R@32", "70..73=4 84..85=1 90..92=3 sm_75", "atomic on global memory, without its result"),
    (0x18e, "ir", concat!("RED.E", words!(reduction), words!(any_type), words!(atomic_scope_sm75)), "= atomic@64 R@32", "64..73=256 84..85=1 90..92=0 sm_75", "atomic on global memory, without its result"),
    (0x1a6, "ir", concat!("REDG.E.ADD", words!(float_type), words!(scope)), "= atomic@64 R@32", "70..73=6 84..85=1 90..92=3 sm_90", "sum of floats in global memory"),
    (0x1a3, "ir", concat!("ATOMG.E.ADD", words!(float_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_90", "sum of floats in global memory, and what was there"),
    (0x1a2, "ir", concat!("ATOM.E.ADD", words!(float_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1 sm_90", "sum of floats at a generic address"),
    (0x18a, "rr", concat!("ATOM.E", words!(atomic), words!(integer_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=4 84..85=1 sm_90", "atomic at a generic address"),
    (0x18a, "rr", concat!("ATOM.E", words!(atomic), words!(any_type), words!(scope)), "P@81 R@16 = atomic@64 R@32", "70..73=4 84..85=1 sm_80", "atomic at a generic address"),
    (0x18b, "rr", concat!("ATOM.E.CAST.SPIN", words!(cas_width)), "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1 87..89=3 sm_80 sm_90", "compare and swap at a generic address, which may fail"),
    (0x18c, "rr ir", concat!("ATOMS", words!(atomic), words!(integer_type)), "R@16 = S@64 R@32", "sm_80 sm_90", "atomic on shared memory"),
    (0x18c, "ir", concat!("ATOMS", words!(atomic), words!(integer_type)), "R@16 = S@64 R@32", "sm_75", "atomic on shared memory"),
    (0x18c, "rr", concat!("ATOMS", words!(atomic), words!(integer_type)), "R@16 = S@64 R@32", "64..72=255 sm_75", "atomic on shared memory"),
    (0x18c, "ru", "ATOMS.POPC.INC.32", "R@16 = S@64", "87..92=27 sm_90", "count the lanes in shared memory"),
    (0x18c, "ru", "ATOMS.POPC.INC.32", "R@16 = S@64", "87..92=26 sm_75 sm_80", "count the lanes in shared memory"),
    (0x18d, "rr", concat!("ATOMS.CAS", words!(cas_width)), "R@16 = S R@32 R@64", "", "compare and swap in shared memory"),
    (0x18d, "rr", concat!("ATOMS.CAST.SPIN", words!(cas_width)), "R@16 = S R@32 R@64", "87..89=3", "compare and swap in shared memory, which may fail"),
];
