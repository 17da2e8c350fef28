//! Arithmetic on registers of the warp, and moves from its lanes to them.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x082, "ir ur", "UMOV", "UR@16 = uB.u", "", "copy"),
    (0x086, "ir", "VOTEU{.ALL,.ANY,.EQ}@72", "{UR@16=URZ} UP@81 = !P@87", "", "a predicate of all lanes, for the warp"),
    (0x1c4, "rr", "REDUX{,.OR,.XOR,.SUM,.MIN,.MAX}@78{,.S32}@73", "UR@16 = R@24", "sm_80 sm_90", "one value from those of all lanes"),
    (0x087, "rr ir", "USEL", "UR@16 = uA uB.u !UP@87", "91..92=1", "one of two"),
    (0x08c, "rr ir", "UISETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.T}@76{.U32,}@73{.AND,.OR,.XOR}@74", "UP@81 UP@84 = uA uB !UP@87", "68..71=7 91..92=1", "compare"),
    (0x08c, "rr ir", "UISETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.T}@76{.U32,}@73{.AND,.OR,.XOR}@74.EX", "UP@81 UP@84 = uA uB !UP@87 !UP@68", "72..73=1 91..92=1", "compare upper halves, after the lower ones"),
    (0x090, "rr ir", "UIADD3", "UR@16 {UP@81} {UP@84} = -uA -uB -uC", "77..81=15 87..91=15 91..92=1", "sum of three, with up to two carries"),
    (0x090, "rr ir", "UIADD3.X", "UR@16 {UP@81} {UP@84} = ~uA ~uB ~uC !UP@87 !UP@77", "74..75=1 91..92=1", "sum of three and of two carries"),
    (0x091, "rr ir", "ULEA", "UR@16 {UP@81} = -uA -uB.u I@75+5", "64..72=63 87..91=15 91..92=1", "A shifted left, plus B"),
    (0x091, "rr ir", "ULEA.HI", "UR@16 {UP@81} = -uA -uB.u uC I@75+5", "80..81=1 87..91=15 91..92=1", "upper half of C:A shifted left, plus B"),
    (0x091, "rr ir", "ULEA.HI.SX32", "UR@16 {UP@81} = -uA -uB.u I@75+5", "73..74=1 80..81=1 64..72=63 87..91=15 91..92=1", "upper half of A, extended and shifted left, plus B"),
    (0x091, "rr ir", "ULEA.HI.X", "UR@16 {UP@81} = ~uA ~uB.u uC I@75+5 !UP@87", "74..75=1 80..81=1 91..92=1", "upper half of C:A shifted left, plus B and a carry"),
    (0x091, "rr ir", "ULEA.HI.X.SX32", "UR@16 {UP@81} = ~uA ~uB.u I@75+5 !UP@87", "73..74=1 74..75=1 80..81=1 64..72=63 91..92=1", "upper half of A, extended and shifted left, plus B and a carry"),
    (0x092, "rr ir", "ULOP3.LUT", "{UP@81} UR@16 = uA uB.u uC I@72+8 !UP@87", "91..92=1", "any function of three bits"),
    (0x096, "rr ri ir", "UPRMT", "UR@16 = uA uB.u uC.u", "91..92=1", "four of eight bytes"),
    (0x099, "rr ri ir", "USHF{.L,.R}@76{,.W}@75{.S64,.U64,.S32,.U32}@73{,.HI}@80", "UR@16 = uA uB.u uC.u", "91..92=1", "C:A shifted by B"),
    (0x0a4, "rr ri ir", "UIMAD{.U32,}@73", "UR@16 = uA uB -uC", "81..84=7 87..91=15 91..92=1", "low half of the product, plus C"),
    (0x0a5, "rr ri ir", "UIMAD.WIDE{.U32,}@73", "UR@16 {UP@81} = uA uB -uC", "87..91=15 91..92=1", "whole product, plus C"),
    (0x0bd, "rr", "UFLO{.U32,}@73{,.SH}@74", "UR@16 {UP@81} = ~uB", "91..92=1", "place of the highest set bit"),
    (0x0be, "rr", "UBREV", "UR@16 = uB", "91..92=1", "bits in reverse order"),
    (0x0bf, "rr", "UPOPC", "UR@16 = ~uB", "91..92=1", "how many bits are set"),
];
