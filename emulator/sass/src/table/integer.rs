//! Arithmetic, comparisons and bits of integers.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x010, "rr ir cr ur", "IADD3", "R@16 {P@81} {P@84} = -A -B -C", "77..81=15 87..91=15", "sum of three, with up to two carries"),
    (0x010, "rr ir cr ur", "IADD3.X", "R@16 {P@81} {P@84} = ~A ~B ~C !P@87 !P@77", "74..75=1", "sum of three and of two carries"),
    (0x036, "rr ir cr ur", "VIADD{,.16x2}@73", "R@16 = A -B.u", "sm_90", "sum"),
    (0x024, "rr ri rc ir cr ur ru", "IMAD{.U32,}@73", "R@16 = A B -C", "81..84=7 87..91=15", "low half of the product, plus C"),
    (0x024, "rr ri rc ir cr ur ru", "IMAD{.U32,}@73.X", "R@16 = A B ~C !P@87", "74..75=1 81..84=7", "low half of the product, plus C and a carry"),
    (0x025, "rr ri rc ir cr ur ru", "IMAD.WIDE{.U32,}@73", "R@16 {P@81} = A B -C", "87..91=15", "whole product, plus C"),
    (0x025, "rr ri rc ir cr ur ru", "IMAD.WIDE{.U32,}@73.X", "R@16 {P@81} = A B ~C !P@87", "74..75=1", "whole product, plus C and a carry"),
    (0x027, "rr ri rc ir cr ur ru", "IMAD.HI{.U32,}@73", "R@16 {P@81} = A B -C", "87..91=15", "high half of the product plus C"),
    (0x026, "rr ri rc ir cr ur ru", "IDP.4A{.U8,.S8}@73{.U8,.S8}@74", "R@16 = A B -C", "", "dot product of bytes, plus C"),
    (0x026, "rr ri rc ir cr ur ru", "IDP.2A{.LO,.HI}@77{.U16,.S16}@73{.U8,.S8}@74", "R@16 = A B -C", "76..77=1", "dot product of two halves and two bytes, plus C"),
    (0x01b, "rr ir cr ur", "BMSK", "R@16 = A B.u", "", "a run of ones"),
    (0x00c, "rr ir cr ur", "ISETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.T}@76{.U32,}@73{.AND,.OR,.XOR}@74", "P@81 P@84 = A B !P@87", "68..71=7", "compare"),
    (0x00c, "rr ir cr ur", "ISETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.T}@76{.U32,}@73{.AND,.OR,.XOR}@74.EX", "P@81 P@84 = A B !P@87 !P@68", "72..73=1 sm_80 sm_90", "compare upper halves, after the lower ones"),
    (0x00c, "rr ir cr ur", "ISETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.T}@76{.U32,}@73{.AND,.OR,.XOR}@74.EX", "P@81 P@84 = A B !P@87 {!P@68}", "72..73=1 sm_75", "compare upper halves, after the lower ones"),
    (0x048, "rr ir cr ur", "VIMNMX{.U32,,.U16x2,.S16x2}@72{,.RELU}@76", "R@16 = A B !P@87", "81..87=63 sm_90", "smaller or larger"),
    (0x017, "rr ir cr ur", "IMNMX{.U32,}@73", "R@16 = A B !P@87", "sm_75 sm_80", "smaller or larger"),
    (0x046, "rr ri rc ir cr ur ru", "VIADDMNMX{.U32,}@72", "R@16 = A B.u C.u !P@87", "sm_90", "smaller or larger of a sum and C"),
    (0x011, "rr ir cr ur", "LEA", "R@16 {P@81} = -A -B.u I@75+5", "64..72=255 87..91=15", "A shifted left, plus B"),
    (0x011, "rr ir cr ur", "LEA.HI", "R@16 {P@81} = -A -B.u C I@75+5", "80..81=1 87..91=15", "upper half of C:A shifted left, plus B"),
    (0x011, "rr ir cr ur", "LEA.HI.SX32", "R@16 {P@81} = -A -B.u I@75+5", "73..74=1 80..81=1 64..72=255 87..91=15", "upper half of A, extended and shifted left, plus B"),
    (0x011, "rr ir cr ur", "LEA.HI.X", "R@16 {P@81} = ~A ~B.u C I@75+5 !P@87", "74..75=1 80..81=1", "upper half of C:A shifted left, plus B and a carry"),
    (0x011, "rr ir cr ur", "LEA.HI.X.SX32", "R@16 {P@81} = ~A ~B.u I@75+5 !P@87", "73..74=1 74..75=1 80..81=1 64..72=255", "upper half of A, extended and shifted left, plus B and a carry"),
    (0x012, "rr ir cr ur", "LOP3.LUT", "{P@81} R@16 = A B.u C I@72+8 !P@87", "", "any function of three bits"),
    (0x013, "rr ir cr ur", "IABS", "R@16 = B", "", "absolute value"),
    (0x014, "rr ri rc ir cr ur ru", "VABSDIFF{.U32,}@73", "R@16 {P@81} = A B.u C.u", "", "absolute difference, plus C"),
    (0x019, "rr ri rc ir cr ur ru", "SHF{.L,.R}@76{,.W}@75{.S64,.U64,.S32,.U32}@73{,.HI}@80", "R@16 = A B.u C.u", "", "C:A shifted by B"),
    (0x01a, "rr ir cr ur", "SGXT{,.W}@75{.U32,}@73", "R@16 = A B.u", "", "extend the lowest bits"),
    (0x01c, "ir", "PLOP3.LUT", "P@81 P@84 = !P@87 !P@77 !P@68 table I@16+8", "", "any function of three predicates"),
    (0x01c, "ir", "PLOP3.LUT", "P@81 P@84 = !P@87 !P@77 !UP@68 table I@16+8", "67..68=1", "the same, with one of the warp"),
    (0x100, "rr ir cr ur", "FLO{.U32,}@73{,.SH}@74", "R@16 {P@81} = ~B", "", "place of the highest set bit"),
    (0x101, "rr ir cr ur", "BREV", "R@16 = B", "", "bits in reverse order"),
    (0x109, "rr ir cr ur", "POPC", "R@16 = B", "", "how many bits are set"),
];
