//! Arithmetic on `f16`, `bf16` and their packed pairs.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Half precision: add", refused: None, rows: &[
        ("add{,.rn}{,.ftz}{,.sat}.f16", "d, a, b", "sum"),
        ("add{,.rn}{,.ftz}{,.sat}.f16x2", "d, a, b", "sum, in two packed halves"),
        ("add{,.rn}.bf16", "d, a, b", "sum"),
        ("add{,.rn}.bf16x2", "d, a, b", "sum, in two packed halves"),
    ] },
    Section { title: "Half precision: sub", refused: None, rows: &[
        ("sub{,.rn}{,.ftz}{,.sat}.f16", "d, a, b", "difference"),
        ("sub{,.rn}{,.ftz}{,.sat}.f16x2", "d, a, b", "difference, in two packed halves"),
        ("sub{,.rn}.bf16", "d, a, b", "difference"),
        ("sub{,.rn}.bf16x2", "d, a, b", "difference, in two packed halves"),
    ] },
    Section { title: "Half precision: mul", refused: None, rows: &[
        ("mul{,.rn}{,.ftz}{,.sat}.f16", "d, a, b", "product"),
        ("mul{,.rn}{,.ftz}{,.sat}.f16x2", "d, a, b", "product, in two packed halves"),
        ("mul{,.rn}.bf16", "d, a, b", "product"),
        ("mul{,.rn}.bf16x2", "d, a, b", "product, in two packed halves"),
    ] },
    Section { title: "Half precision: fma", refused: None, rows: &[
        ("fma.rn{,.ftz}{,.sat}.f16", "d, a, b, c", "a times b plus c, rounded once"),
        ("fma.rn{,.ftz}{,.sat}.f16x2", "d, a, b, c", "a times b plus c, in two packed halves"),
        ("fma.rn{,.ftz}.relu{.f16,.f16x2}", "d, a, b, c", "a times b plus c; negative and NaN give 0 and the canonical NaN"),
        ("fma.rn.bf16", "d, a, b, c", "a times b plus c, rounded once"),
        ("fma.rn.bf16x2", "d, a, b, c", "a times b plus c, in two packed halves"),
        ("fma.rn.relu{.bf16,.bf16x2}", "d, a, b, c", "a times b plus c; negative gives 0"),
    ] },
    Section { title: "Half precision: neg", refused: None, rows: &[
        ("neg{,.ftz}.f16", "d, a", "negation"),
        ("neg{,.ftz}.f16x2", "d, a", "negation, in two packed halves"),
        ("neg.bf16", "d, a", "negation"),
        ("neg.bf16x2", "d, a", "negation, in two packed halves"),
    ] },
    Section { title: "Half precision: abs", refused: None, rows: &[
        ("abs{,.ftz}.f16", "d, a", "absolute value"),
        ("abs{,.ftz}.f16x2", "d, a", "absolute value, in two packed halves"),
        ("abs.bf16", "d, a", "absolute value"),
        ("abs.bf16x2", "d, a", "absolute value, in two packed halves"),
    ] },
    Section { title: "Half precision: min", refused: None, rows: &[
        ("min{,.ftz}{,.NaN}.f16", "d, a, b", "the smaller; NaN wins with .NaN"),
        ("min{,.ftz}{,.NaN}.f16x2", "d, a, b", "the smaller, in two packed halves"),
        ("min{,.ftz}{,.NaN}.xorsign.abs{.f16,.f16x2}", "d, a, b", "the smaller magnitude, with the product of the signs"),
        ("min{,.NaN}.bf16", "d, a, b", "the smaller; NaN wins with .NaN"),
        ("min{,.NaN}.bf16x2", "d, a, b", "the smaller, in two packed halves"),
        ("min{,.NaN}.xorsign.abs{.bf16,.bf16x2}", "d, a, b", "the smaller magnitude, with the product of the signs"),
    ] },
    Section { title: "Half precision: max", refused: None, rows: &[
        ("max{,.ftz}{,.NaN}.f16", "d, a, b", "the larger; NaN wins with .NaN"),
        ("max{,.ftz}{,.NaN}.f16x2", "d, a, b", "the larger, in two packed halves"),
        ("max{,.ftz}{,.NaN}.xorsign.abs{.f16,.f16x2}", "d, a, b", "the larger magnitude, with the product of the signs"),
        ("max{,.NaN}.bf16", "d, a, b", "the larger; NaN wins with .NaN"),
        ("max{,.NaN}.bf16x2", "d, a, b", "the larger, in two packed halves"),
        ("max{,.NaN}.xorsign.abs{.bf16,.bf16x2}", "d, a, b", "the larger magnitude, with the product of the signs"),
    ] },
    Section { title: "Half precision: tanh", refused: None, rows: &[
        ("tanh.approx{.f16,.f16x2}", "d, a", "hyperbolic tangent, approximate"),
        ("tanh.approx{.bf16,.bf16x2}", "d, a", "hyperbolic tangent, approximate"),
    ] },
    Section { title: "Half precision: ex2", refused: None, rows: &[
        ("ex2.approx{.f16,.f16x2}", "d, a", "power of 2, approximate"),
        ("ex2.approx.ftz{.bf16,.bf16x2}", "d, a", "power of 2, approximate"),
    ] },
];
