//! Loads, stores, atomics.

use super::Line;

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    (0x182, "cr", "LDC{.U8,.S8,.U16,.S16,,.64}@73", "R@16 = K", "", "load from constant memory"),
    (0x0b9, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = c@38", "", "load from constant memory, for the warp"),
    (0x0bb, "cr", "ULDC{.U8,.S8,.U16,.S16,,.64}@73", "UR@16 = cu", "91..92=1", "the same, with an index"),
    (0x181, "rr ir", "LDG{,.E}@72{.U8,.S8,.U16,.S16,,.64,.128}@73{.EF,,.EL,.LU,.EU,.NA}@84{,?,?,?,.CONSTANT,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "R@16 {P@81} = G@32", "", "load from global memory"),
    (0x186, "rr ir", "STG{,.E}@72{.U8,.S8,.U16,.S16,,.64,.128}@73{.EF,,.EL,.LU,.EU,.NA}@84{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= G@64 R@32", "", "store to global memory"),
    (0x180, "rr ir", "LD{,.E}@72{.U8,.S8,.U16,.S16,,.64,.128}@73{.EF,,.EL,.LU,.EU,.NA}@84{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "R@16 = G@32", "", "load from a generic address"),
    (0x185, "rr ir", "ST{,.E}@72{.U8,.S8,.U16,.S16,,.64,.128}@73{.EF,,.EL,.LU,.EU,.NA}@84{,?,?,?,?,.STRONG.SM,?,.STRONG.GPU,?,?,.STRONG.SYS}@77", "= G@64 R@32", "", "store to a generic address"),
    (0x184, "rr ir", "LDS{.U8,.S8,.U16,.S16,,.64,.128}@73", "R@16 = S@32", "", "load from shared memory"),
    (0x188, "rr ir", "STS{.U8,.S8,.U16,.S16,,.64,.128}@73", "= S@64 R@32", "", "store to shared memory"),
];
