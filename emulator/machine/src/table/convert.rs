//! Conversions between numbers.

use super::Line;

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    (0x045, "rr ir cr ur", "I2FP.F32{.U32,.S32}@74{,.RM,.RP,.RZ}@78", "R@16 = B", "76..77=1 85..86=1", "integer to float"),
];
