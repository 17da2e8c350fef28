//! Integer arithmetic, with and without carry.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Integer arithmetic: add", refused: None, rows: &[
        ("add{.u16,.u32,.u64,.s16,.s64}", "d, a, b", "sum, wrapping"),
        ("add{,.sat}.s32", "d, a, b", "sum, wrapping; clamped to 32 bits with .sat"),
        ("add{.u16x2,.s16x2}", "d, a, b", "sum of two packed 16-bit integers"),
    ] },
    Section { title: "Integer arithmetic: sub", refused: None, rows: &[
        ("sub{.u16,.u32,.u64,.s16,.s64}", "d, a, b", "difference, wrapping"),
        ("sub{,.sat}.s32", "d, a, b", "difference, wrapping; clamped to 32 bits with .sat"),
    ] },
    Section { title: "Integer arithmetic: mul", refused: None, rows: &[
        ("mul.lo{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "low half of the product"),
        ("mul.hi{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "high half of the product"),
        ("mul.wide{.u16,.u32,.s16,.s32}", "d, a, b", "whole product, twice as wide"),
    ] },
    Section { title: "Integer arithmetic: mad", refused: None, rows: &[
        ("mad.lo{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b, c", "low half of the product, plus c"),
        ("mad.hi{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b, c", "high half of the product, plus c"),
        ("mad.wide{.u16,.u32,.s16,.s32}", "d, a, b, c", "whole product plus c, twice as wide"),
        ("mad.hi.sat.s32", "d, a, b, c", "high half of the product, plus c, clamped"),
    ] },
    Section { title: "Integer arithmetic: mul24", refused: None, rows: &[
        ("mul24.lo{.u32,.s32}", "d, a, b", "low 32 bits of a 24-bit product"),
        ("mul24.hi{.u32,.s32}", "d, a, b", "bits 16 to 47 of a 24-bit product"),
    ] },
    Section { title: "Integer arithmetic: mad24", refused: None, rows: &[
        ("mad24.lo{.u32,.s32}", "d, a, b, c", "low 32 bits of a 24-bit product, plus c"),
        ("mad24.hi{.u32,.s32}", "d, a, b, c", "bits 16 to 47 of a 24-bit product, plus c"),
        ("mad24.hi.sat.s32", "d, a, b, c", "bits 16 to 47 of a 24-bit product, plus c, clamped"),
    ] },
    Section { title: "Integer arithmetic: sad", refused: None, rows: &[
        ("sad{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b, c", "c plus the distance of a and b"),
    ] },
    Section { title: "Integer arithmetic: div", refused: None, rows: &[
        ("div{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "quotient, towards zero"),
    ] },
    Section { title: "Integer arithmetic: rem", refused: None, rows: &[
        ("rem{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "remainder, with the sign of a"),
    ] },
    Section { title: "Integer arithmetic: abs", refused: None, rows: &[
        ("abs{.s16,.s32,.s64}", "d, a", "absolute value"),
    ] },
    Section { title: "Integer arithmetic: neg", refused: None, rows: &[
        ("neg{.s16,.s32,.s64}", "d, a", "negation"),
    ] },
    Section { title: "Integer arithmetic: min", refused: None, rows: &[
        ("min{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "the smaller of two"),
        ("min{.u16x2,.s16x2}", "d, a, b", "the smaller of two, in two packed 16-bit integers"),
        ("min{.relu.s32,.s32.relu}", "d, a, b", "the smaller of two, and no less than 0"),
        ("min{.relu.s16x2,.s16x2.relu}", "d, a, b", "the smaller of two, and no less than 0, in two packed integers"),
    ] },
    Section { title: "Integer arithmetic: max", refused: None, rows: &[
        ("max{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b", "the larger of two"),
        ("max{.u16x2,.s16x2}", "d, a, b", "the larger of two, in two packed 16-bit integers"),
        ("max{.relu.s32,.s32.relu}", "d, a, b", "the larger of two, and no less than 0"),
        ("max{.relu.s16x2,.s16x2.relu}", "d, a, b", "the larger of two, and no less than 0, in two packed integers"),
    ] },
    Section { title: "Integer arithmetic: popc", refused: None, rows: &[
        ("popc{.b32,.b64}", "d, a", "number of ones"),
    ] },
    Section { title: "Integer arithmetic: clz", refused: None, rows: &[
        ("clz{.b32,.b64}", "d, a", "number of leading zeros"),
    ] },
    Section { title: "Integer arithmetic: bfind", refused: None, rows: &[
        ("bfind{.u32,.u64,.s32,.s64}", "d, a", "position of the highest bit that is not the sign"),
        ("bfind.shiftamt{.u32,.u64,.s32,.s64}", "d, a", "left shift that brings that bit to the top"),
    ] },
    Section { title: "Integer arithmetic: fns", refused: None, rows: &[
        ("fns.b32", "d, mask, base, offset", "position of the n-th set bit from a base"),
    ] },
    Section { title: "Integer arithmetic: brev", refused: None, rows: &[
        ("brev{.b32,.b64}", "d, a", "bits in reverse order"),
    ] },
    Section { title: "Integer arithmetic: bfe", refused: None, rows: &[
        ("bfe{.u32,.u64}", "d, a, b, c", "bit field at b with c bits, filled with zeros"),
        ("bfe{.s32,.s64}", "d, a, b, c", "bit field at b with c bits, sign extended"),
    ] },
    Section { title: "Integer arithmetic: bfi", refused: None, rows: &[
        ("bfi{.b32,.b64}", "f, a, b, c, d", "b with a put in at c, d bits wide"),
    ] },
    Section { title: "Integer arithmetic: bmsk", refused: None, rows: &[
        ("bmsk{.clamp,.wrap}.b32", "d, a, b", "ones from bit a, b of them"),
    ] },
    Section { title: "Integer arithmetic: szext", refused: None, rows: &[
        ("szext{.clamp,.wrap}{.u32,.s32}", "d, a, b", "low b bits, sign or zero extended"),
    ] },
    Section { title: "Integer arithmetic: dp4a", refused: None, rows: &[
        ("dp4a{.u32,.s32}{.u32,.s32}", "d, a, b, c", "c plus the dot product of four bytes"),
    ] },
    Section { title: "Integer arithmetic: dp2a", refused: None, rows: &[
        ("dp2a{.lo,.hi}{.u32,.s32}{.u32,.s32}", "d, a, b, c", "c plus the dot product of two halves and two bytes"),
    ] },
    Section { title: "Extended-precision integer arithmetic: add.cc", refused: None, rows: &[
        ("add.cc{.u32,.u64,.s32,.s64}", "d, a, b", "sum; writes the carry"),
    ] },
    Section { title: "Extended-precision integer arithmetic: addc", refused: None, rows: &[
        ("addc{.u32,.u64,.s32,.s64}", "d, a, b", "sum with the carry"),
        ("addc.cc{.u32,.u64,.s32,.s64}", "d, a, b", "sum with the carry; writes the carry"),
    ] },
    Section { title: "Extended-precision integer arithmetic: sub.cc", refused: None, rows: &[
        ("sub.cc{.u32,.u64,.s32,.s64}", "d, a, b", "difference; writes the carry, which is clear where it borrows"),
    ] },
    Section { title: "Extended-precision integer arithmetic: subc", refused: None, rows: &[
        ("subc{.u32,.u64,.s32,.s64}", "d, a, b", "difference, less one where the carry is clear"),
        ("subc.cc{.u32,.u64,.s32,.s64}", "d, a, b", "difference, less one where the carry is clear; writes the carry"),
    ] },
    Section { title: "Extended-precision integer arithmetic: mad.cc", refused: None, rows: &[
        ("mad.lo.cc{.u32,.u64,.s32,.s64}", "d, a, b, c", "low half of the product, plus c; writes the carry"),
        ("mad.hi.cc{.u32,.u64,.s32,.s64}", "d, a, b, c", "high half of the product, plus c; writes the carry"),
    ] },
    Section { title: "Extended-precision integer arithmetic: madc", refused: None, rows: &[
        ("madc.lo{.u32,.u64,.s32,.s64}", "d, a, b, c", "low half of the product, plus c and the carry"),
        ("madc.lo.cc{.u32,.u64,.s32,.s64}", "d, a, b, c", "low half of the product, plus c and the carry; writes the carry"),
        ("madc.hi{.u32,.u64,.s32,.s64}", "d, a, b, c", "high half of the product, plus c and the carry"),
        ("madc.hi.cc{.u32,.u64,.s32,.s64}", "d, a, b, c", "high half of the product, plus c and the carry; writes the carry"),
    ] },
    Section { title: "Video: vabsdiff", refused: None, rows: &[
        ("vabsdiff{.u32,.s32}{.u32,.s32}{.u32,.s32}{,.sat}", "d, a, b", "distance of a and b"),
        ("vabsdiff{.u32,.s32}{.u32,.s32}{.u32,.s32}{,.sat}.add", "d, a, b, c", "distance of a and b, plus c"),
        ("vabsdiff{.u32,.s32}{.u32,.s32}{.u32,.s32}{,.sat}{.min,.max}", "d, a, b, c", "distance of a and b, or c"),
    ] },
    Section { title: "Video: vabsdiff2, vabsdiff4", refused: None, rows: &[
        ("vabsdiff2{.u32,.s32}{.u32,.s32}{.u32,.s32}{,.sat}", "d, a, b, c", "distances of two halves"),
        ("vabsdiff2{.u32,.s32}{.u32,.s32}{.u32,.s32}.add", "d, a, b, c", "distances of two halves, summed with c"),
        ("vabsdiff4{.u32,.s32}{.u32,.s32}{.u32,.s32}{,.sat}", "d, a, b, c", "distances of four bytes"),
        ("vabsdiff4{.u32,.s32}{.u32,.s32}{.u32,.s32}.add", "d, a, b, c", "distances of four bytes, summed with c"),
    ] },
];
