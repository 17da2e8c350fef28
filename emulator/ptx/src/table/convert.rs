//! Conversions between types.

use super::Section;

/// In the order of the PTX manual.
#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Conversion: cvt", refused: None, rows: &[
        ("cvt{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to integer: cut, or extended by the source's sign"),
        ("cvt.sat{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to integer, clamped to the range of the destination"),
        ("cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to f32"),
        ("cvt{.rn,.rz,.rm,.rp}{,.sat}.f64{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to f64"),
        ("cvt{.rn,.rz,.rm,.rp}{,.sat}.f16{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to f16"),
        ("cvt{.rn,.rz,.rm,.rp}.bf16{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}", "d, a", "integer to bf16"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}.f32", "d, a", "f32 to integer, clamped; NaN gives 0"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.sat}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}.f64", "d, a", "f64 to integer, clamped"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}.f16", "d, a", "f16 to integer, clamped; NaN gives 0"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{.u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64}.bf16", "d, a", "bf16 to integer, clamped; NaN gives 0"),
        ("cvt{,.ftz}{,.sat}.f32.f32", "d, a", "f32 copied, flushed or clamped to 0..1"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32", "d, a", "f32 to a whole number"),
        ("cvt{,.sat}.f64.f64", "d, a", "f64 copied or clamped to 0..1"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.f64.f64", "d, a", "f64 to a whole number"),
        ("cvt{,.ftz}{,.sat}.f16.f16", "d, a", "f16 copied or clamped to 0..1"),
        ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f16.f16", "d, a", "f16 to a whole number"),
        ("cvt{.rni,.rzi,.rmi,.rpi}.bf16.bf16", "d, a", "bf16 to a whole number"),
        ("cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32.f64", "d, a", "f64 to f32"),
        ("cvt{,.ftz}{,.sat}.f64.f32", "d, a", "f32 to f64"),
        ("cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f16.f32", "d, a", "f32 to f16"),
        ("cvt{,.ftz}{,.sat}.f32.f16", "d, a", "f16 to f32"),
        ("cvt{.rn,.rz,.rm,.rp}{,.sat}.f16.f64", "d, a", "f64 to f16"),
        ("cvt{,.ftz}{,.sat}.f64.f16", "d, a", "f16 to f64"),
        ("cvt{.rn,.rz}.relu{,.satfinite}.f16.f32", "d, a", "f32 to f16; negative gives 0"),
        ("cvt{.rn,.rz}.satfinite.f16.f32", "d, a", "f32 to f16; the largest finite number instead of infinity"),
        ("cvt{.rn,.rz,.rm,.rp}.bf16.f32", "d, a", "f32 to bf16"),
        ("cvt{.rn,.rz}.relu{,.satfinite}.bf16.f32", "d, a", "f32 to bf16; negative gives 0"),
        ("cvt{.rn,.rz}.satfinite.bf16.f32", "d, a", "f32 to bf16; the largest finite number instead of infinity"),
        ("cvt{,.ftz}{,.sat}.f32.bf16", "d, a", "bf16 to f32"),
        ("cvt{.rn,.rz,.rm,.rp}.bf16.f64", "d, a", "f64 to bf16"),
        ("cvt.f64.bf16", "d, a", "bf16 to f64"),
        ("cvt{.rn,.rz,.rm,.rp}.bf16.f16", "d, a", "f16 to bf16"),
        ("cvt{.rn,.rz,.rm,.rp}.f16.bf16", "d, a", "bf16 to f16"),
        ("cvt{.rn,.rz}{,.relu}{,.satfinite}.f16x2.f32", "d, a, b", "two f32 to packed f16, a in the upper half"),
        ("cvt{.rn,.rz}{,.relu}{,.satfinite}.bf16x2.f32", "d, a, b", "two f32 to packed bf16, a in the upper half"),
    ] },
    Section { title: "Conversion: cvt.pack", refused: None, rows: &[
        ("cvt.pack.sat{.u16,.s16}.s32", "d, a, b", "two integers clamped and packed"),
        ("cvt.pack.sat{.u8,.s8,.u4,.s4,.u2,.s2}.s32.b32", "d, a, b, c", "two integers clamped and packed below c"),
    ] },
];
