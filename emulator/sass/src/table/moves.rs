//! Moving, selecting, and registers that are special.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x002, "rr ir cr ur", "MOV", "R@16 = B.u", "72..76=15", "copy"),
    (0x003, "ir", "P2R", "R@16 = PR A B.u", "sm_90", "some of the predicates as bits, the others from a register"),
    (0x003, "ir", "P2R", "R@16 = PR A B", "sm_75 sm_80", "some of the predicates as bits, the others from a register"),
    (0x004, "ir", "R2P", "PR = A B.u", "", "some of the predicates from bits"),
    (0x005, "ir", "CS2R{.32,}@80", "R@16 = SR@72", "", "a special register, at once"),
    (0x007, "rr ir cr ur", "SEL", "R@16 = A B.u !P@87", "", "one of two"),
    (0x008, "rr ir cr ur", "FSEL{,.FTZ}@80", "R@16 = -|A| -|B|.f !P@87", "", "one of two floats"),
    (0x016, "rr ri rc ir cr ur ru", "PRMT{,.F4E,.B4E,.RC8,.ECL,.ECR,.RC16}@72", "R@16 = A B.u C.u", "", "four of eight bytes"),
    (0x119, "ir", "S2R", "R@16 = SR@72", "", "a special register"),
    (0x1c3, "ir", "S2UR", "UR@16 = SR@72", "", "a special register, for the warp"),
    (0x0ca, "rr", "R2UR", "{P@81} UR@16 = A", "sm_90", "a register of one lane, for the warp"),
    (0x1c2, "rr", "R2UR", "{P@81} UR@16 = R@24", "sm_75 sm_80", "a register of one lane, for the warp"),
    (0x006, "ir", "VOTE{.ALL,.ANY,.EQ}@72", "{R@16=RZ} P@81 = !P@87", "", "a predicate of all lanes"),
    (0x155, "rr", "BMOV.32{,.CLEAR}@84", "R@16 = B@24", "", "a convergence barrier to a register"),
    (0x156, "rr", "BMOV.32", "B@24 = R@32", "", "a register to a convergence barrier"),
    (0x11c, "rr", "B2R.RESULT", "R@16 {P@81} =", "78..79=1", "result of a reduction at a barrier"),
];
