//! Comparison, selection, logic and shifts.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Comparison and selection: set", refused: None, rows: &[
        ("set{.eq,.ne}{.u32,.s32,.f32}{.b16,.b32,.b64}", "d, a, b", "all ones or 1.0 where two bits compare"),
        ("set{.eq,.ne}{.and,.or,.xor}{.u32,.s32,.f32}{.b16,.b32,.b64}", "d, a, b, c", "all ones or 1.0 where two bits compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs}{.u32,.s32,.f32}{.u16,.u32,.u64}", "d, a, b", "all ones or 1.0 where two unsigned integers compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs}{.and,.or,.xor}{.u32,.s32,.f32}{.u16,.u32,.u64}", "d, a, b, c", "all ones or 1.0 where two unsigned integers compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge}{.u32,.s32,.f32}{.s16,.s32,.s64}", "d, a, b", "all ones or 1.0 where two signed integers compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge}{.and,.or,.xor}{.u32,.s32,.f32}{.s16,.s32,.s64}", "d, a, b, c", "all ones or 1.0 where two signed integers compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}{.u32,.s32,.f32}.f32", "d, a, b", "all ones or 1.0 where two f32 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}{.u32,.s32,.f32}.f32", "d, a, b, c", "all ones or 1.0 where two f32 compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.u32,.s32,.f32}.f64", "d, a, b", "all ones or 1.0 where two f64 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{.u32,.s32,.f32}.f64", "d, a, b, c", "all ones or 1.0 where two f64 compare, combined with c"),
    ] },
    Section { title: "Comparison and selection: setp", refused: None, rows: &[
        ("setp{.eq,.ne}{.b16,.b32,.b64}", "p, a, b", "whether two bits compare"),
        ("setp{.eq,.ne}{.and,.or,.xor}{.b16,.b32,.b64}", "p, a, b, c", "whether two bits compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs}{.u16,.u32,.u64}", "p, a, b", "whether two unsigned integers compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs}{.and,.or,.xor}{.u16,.u32,.u64}", "p, a, b, c", "whether two unsigned integers compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge}{.s16,.s32,.s64}", "p, a, b", "whether two signed integers compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge}{.and,.or,.xor}{.s16,.s32,.s64}", "p, a, b, c", "whether two signed integers compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}.f32", "p, a, b", "whether two f32 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}.f32", "p, a, b, c", "whether two f32 compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}.f64", "p, a, b", "whether two f64 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}.f64", "p, a, b, c", "whether two f64 compare, combined with c"),
    ] },
    Section { title: "Comparison and selection: selp", refused: None, rows: &[
        ("selp{.b16,.b32,.b64}", "d, a, b, c", "a where c holds, else b"),
        ("selp{.u16,.u32,.u64,.s16,.s32,.s64}", "d, a, b, c", "a where c holds, else b"),
        ("selp{.f32,.f64}", "d, a, b, c", "a where c holds, else b"),
    ] },
    Section { title: "Comparison and selection: slct", refused: None, rows: &[
        ("slct{.b16,.b32,.b64}.s32", "d, a, b, c", "a where c is not negative, else b"),
        ("slct{.u16,.u32,.u64,.s16,.s32,.s64}.s32", "d, a, b, c", "a where c is not negative, else b"),
        ("slct{.f32,.f64}.s32", "d, a, b, c", "a where c is not negative, else b"),
        ("slct{,.ftz}{.b16,.b32,.b64}.f32", "d, a, b, c", "a where c is not negative, else b"),
        ("slct{,.ftz}{.u16,.u32,.u64,.s16,.s32,.s64}.f32", "d, a, b, c", "a where c is not negative, else b"),
        ("slct{,.ftz}{.f32,.f64}.f32", "d, a, b, c", "a where c is not negative, else b"),
    ] },
    Section { title: "Half-precision comparison: set", refused: None, rows: &[
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}{.u16,.s16,.u32,.s32}.f16", "d, a, b", "all ones where two f16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}{.u16,.s16,.u32,.s32}.f16", "d, a, b, c", "all ones where two f16 compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}.f16.f16", "d, a, b", "1.0 where two f16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}.f16.f16", "d, a, b, c", "1.0 where two f16 compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}{.f16x2,.u32,.s32}.f16x2", "d, a, b", "1.0 or all ones in the halves where two packed f16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}{.f16x2,.u32,.s32}.f16x2", "d, a, b, c", "1.0 or all ones in the halves where two packed f16 compare, combined with c"),
    ] },
    Section { title: "Half-precision comparison: setp", refused: None, rows: &[
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}.f16", "p, a, b", "whether two f16 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}.f16", "p, a, b, c", "whether two f16 compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{,.ftz}.f16x2", "p|q, a, b", "whether the halves of two packed f16 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{,.ftz}.f16x2", "p|q, a, b, c", "whether the halves of two packed f16 compare, combined with c"),
    ] },
    Section { title: "Half-precision comparison: set", refused: None, rows: &[
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.u16,.s16,.u32,.s32}.bf16", "d, a, b", "all ones where two bf16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{.u16,.s16,.u32,.s32}.bf16", "d, a, b, c", "all ones where two bf16 compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}.bf16.bf16", "d, a, b", "1.0 where two bf16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}.bf16.bf16", "d, a, b, c", "1.0 where two bf16 compare, combined with c"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.bf16x2,.u32,.s32}.bf16x2", "d, a, b", "1.0 or all ones in the halves where two packed bf16 compare"),
        ("set{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}{.bf16x2,.u32,.s32}.bf16x2", "d, a, b, c", "1.0 or all ones in the halves where two packed bf16 compare, combined with c"),
    ] },
    Section { title: "Half-precision comparison: setp", refused: None, rows: &[
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}.bf16", "p, a, b", "whether two bf16 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}.bf16", "p, a, b, c", "whether two bf16 compare, combined with c"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}.bf16x2", "p|q, a, b", "whether the halves of two packed bf16 compare"),
        ("setp{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}{.and,.or,.xor}.bf16x2", "p|q, a, b, c", "whether the halves of two packed bf16 compare, combined with c"),
    ] },
    Section { title: "Logic and shift: and", refused: None, rows: &[
        ("and.pred", "p, a, b", "predicates that hold in both"),
        ("and{.b16,.b32,.b64}", "d, a, b", "bits set in both"),
    ] },
    Section { title: "Logic and shift: or", refused: None, rows: &[
        ("or.pred", "p, a, b", "predicates that hold in either"),
        ("or{.b16,.b32,.b64}", "d, a, b", "bits set in either"),
    ] },
    Section { title: "Logic and shift: xor", refused: None, rows: &[
        ("xor.pred", "p, a, b", "predicates that hold in one of two"),
        ("xor{.b16,.b32,.b64}", "d, a, b", "bits set in one of two"),
    ] },
    Section { title: "Logic and shift: not", refused: None, rows: &[
        ("not.pred", "p, a", "negation of a predicate"),
        ("not{.b16,.b32,.b64}", "d, a", "bits turned over"),
    ] },
    Section { title: "Logic and shift: cnot", refused: None, rows: &[
        ("cnot{.b16,.b32,.b64}", "d, a", "1 where a is 0, else 0"),
    ] },
    Section { title: "Logic and shift: lop3", refused: None, rows: &[
        ("lop3.b32", "d, a, b, c, immLut", "any function of three bits"),
    ] },
    Section { title: "Logic and shift: shf", refused: None, rows: &[
        ("shf.l{.clamp,.wrap}.b32", "d, a, b, c", "upper word of b:a shifted left by c"),
        ("shf.r{.clamp,.wrap}.b32", "d, a, b, c", "lower word of b:a shifted right by c"),
    ] },
    Section { title: "Logic and shift: shl", refused: None, rows: &[
        ("shl{.b16,.b32,.b64}", "d, a, b", "left shift, 0 past the width"),
    ] },
    Section { title: "Logic and shift: shr", refused: None, rows: &[
        ("shr{.b16,.b32,.b64}", "d, a, b", "right shift, filled with zeros"),
        ("shr{.u16,.u32,.u64}", "d, a, b", "right shift, filled with zeros"),
        ("shr{.s16,.s32,.s64}", "d, a, b", "right shift, filled with the sign"),
    ] },
];
