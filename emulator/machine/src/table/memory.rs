//! Loads, stores, atomics.

use super::Line;

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    (0x182, "cr", "LDC{.U8,.S8,.U16,.S16,,.64}@73", "R@16 = K", "", "load from constant memory"),
    (0x0b9, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = c@38", "", "load from constant memory, for the warp"),
    (0x0bb, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = cu", "91..92=1", "the same, with an index"),
    (0x181, "rr ir", "LDG{,.E}@72{.EF,,.EL,.LU,.EU,.NA}@84{,.LTC64B,.LTC128B,.LTC256B}@68{.U8,.S8,.U16,.S16,,.64,.128}@73{,?,?,?,.CONSTANT,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "R@16 {P@81} = G@32", "", "load from global memory"),
    (0x186, "rr ir", "STG{,.E}@72{.EF,,.EL,.LU,.EU,.NA}@84{.U8,.S8,.U16,.S16,,.64,.128}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= G@64 R@32", "", "store to global memory"),
    (0x180, "rr ir", "LD{,.E}@72{.EF,,.EL,.LU,.EU,.NA}@84{.U8,.S8,.U16,.S16,,.64,.128}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "R@16 = G@32", "", "load from a generic address"),
    (0x185, "rr ir", "ST{,.E}@72{.EF,,.EL,.LU,.EU,.NA}@84{.U8,.S8,.U16,.S16,,.64,.128}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= G@64 R@32", "", "store to a generic address"),
    (0x184, "rr ir", "LDS{.U8,.S8,.U16,.S16,,.64,.128}@73", "R@16 = S@32", "", "load from shared memory"),
    (0x188, "rr ir", "STS{.U8,.S8,.U16,.S16,,.64,.128}@73", "= S@64 R@32", "", "store to shared memory"),
    (0x183, "rr ir", "LDL{.EF,,.EL,.LU,.EU,.NA}@84{.U8,.S8,.U16,.S16,,.64,.128}@73", "R@16 = S@32", "", "load from local memory"),
    (0x187, "rr ir", "STL{.EF,,.EL,.LU,.EU,.NA}@84{.U8,.S8,.U16,.S16,,.64,.128}@73", "= S@64 R@32", "", "store to local memory"),
    (0x189, "rr", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A R@32 R@64", "", "a register of another lane"),
    (0x189, "ri", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A R@32 I@40+13", "", "a register of another lane"),
    (0x189, "ir", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A I@53+5 R@64", "", "a register of another lane"),
    (0x189, "ru", "SHFL{.IDX,.UP,.DOWN,.BFLY}@58", "P@81 R@16 = A I@53+5 I@40+13", "", "a register of another lane"),
    (0x1a1, "rr", "MATCH{.ALL,.ANY}@79{,.U64}@73", "{P@81} R@16 = R@24", "", "the lanes with the same value"),
    (0x1ae, "ru", "LDGSTS.E{.BYPASS,}@81{,.LTC64B,.LTC128B}@71{.U8,.S8,.U16,.S16,,.64,.128}@73", "= to from {!P@87}", "70..71=1 84..85=1 91..92=1", "copy from global to shared memory"),
    (0x18a, "ir", "ATOM.E{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR,.EXCH}@87{,.S32,.64,.S64}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1", "atomic at a generic address"),
    (0x1a8, "ir", "ATOMG.E{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR,.EXCH}@87{,.S32,.64,.S64}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "P@81 R@16 = atomic@64 R@32", "70..73=7 84..85=1 91..92=1", "atomic on global memory"),
    (0x18b, "rr", "ATOM.E.CAS{,?,.64}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1", "compare and swap at a generic address"),
    (0x1a9, "rr", "ATOMG.E.CAS{,?,.64}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "P@81 R@16 = atomic@64 R@32 R@64", "72..73=1 84..85=1", "compare and swap in global memory"),
    (0x18e, "ir", "REDG.E{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR}@87{,.S32,.64,.S64}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= atomic@64 R@32", "70..73=6 84..85=1 90..92=3", "atomic on global memory, without its result"),
    (0x1a6, "ir", "REDG.E{.ADD,.MIN,.MAX}@87{?,.F32.FTZ.RN,?,?,?,?,?,.F64.RN}@73{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= atomic@64 R@32", "70..73=6 76..77=1 84..85=1 90..92=3", "atomic of floats on global memory, without its result"),
    (0x18c, "rr ir", "ATOMS{.ADD,.MIN,.MAX,.INC,.DEC,.AND,.OR,.XOR,.EXCH}@87{,.S32,.64,.S64}@73", "R@16 = S@64 R@32", "", "atomic on shared memory"),
    (0x18c, "ru", "ATOMS.POPC.INC.32", "R@16 = S@64", "87..92=27", "count the lanes in shared memory"),
    (0x18d, "rr", "ATOMS.CAS{,?,.64}@73", "R@16 = S R@32 R@64", "", "compare and swap in shared memory"),
    (0x18d, "rr", "ATOMS.CAST.SPIN{,?,.64}@73", "R@16 = S R@32 R@64", "87..89=3", "compare and swap in shared memory, which may fail"),
];
