//! Arithmetic on registers of the warp.

use super::Line;

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    (0x082, "rr ir", "UMOV", "UR@16 = uB.u", "", "copy"),
    (0x090, "rr ir", "UIADD3", "UR@16 {UP@81} {UP@84} = -uA -uB -uC", "77..81=15 87..91=15 91..92=1", "sum of three, with up to two carries"),
    (0x090, "rr ir", "UIADD3.X", "UR@16 {UP@81} {UP@84} = ~uA ~uB ~uC !UP@87 !UP@77", "74..75=1 91..92=1", "sum of three and of two carries"),
];
