//! Arithmetic on `f32` and `f64`.

use super::Section;

#[rustfmt::skip]
pub(super) const SECTIONS: &[Section] = &[
    Section { title: "Floating point: testp", refused: None, rows: &[
        ("testp.finite{.f32,.f64}", "p, a", "whether a is finite"),
        ("testp.infinite{.f32,.f64}", "p, a", "whether a is infinite"),
        ("testp.number{.f32,.f64}", "p, a", "whether a is a number"),
        ("testp.notanumber{.f32,.f64}", "p, a", "whether a is not a number"),
        ("testp.normal{.f32,.f64}", "p, a", "whether a is normal: neither zero, subnormal, infinite nor NaN"),
        ("testp.subnormal{.f32,.f64}", "p, a", "whether a is subnormal"),
    ] },
    Section { title: "Floating point: copysign", refused: None, rows: &[
        ("copysign{.f32,.f64}", "d, a, b", "b with the sign of a"),
    ] },
    Section { title: "Floating point: add", refused: None, rows: &[
        ("add{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "d, a, b", "sum"),
        ("add{,.rn,.rz,.rm,.rp}.f64", "d, a, b", "sum"),
    ] },
    Section { title: "Floating point: sub", refused: None, rows: &[
        ("sub{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "d, a, b", "difference"),
        ("sub{,.rn,.rz,.rm,.rp}.f64", "d, a, b", "difference"),
    ] },
    Section { title: "Floating point: mul", refused: None, rows: &[
        ("mul{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "d, a, b", "product"),
        ("mul{,.rn,.rz,.rm,.rp}.f64", "d, a, b", "product"),
    ] },
    Section { title: "Floating point: fma", refused: None, rows: &[
        ("fma{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "d, a, b, c", "a times b plus c, rounded once"),
        ("fma{.rn,.rz,.rm,.rp}.f64", "d, a, b, c", "a times b plus c, rounded once"),
    ] },
    Section { title: "Floating point: mad", refused: None, rows: &[
        ("mad{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "d, a, b, c", "the same as fma"),
        ("mad{.rn,.rz,.rm,.rp}.f64", "d, a, b, c", "the same as fma"),
    ] },
    Section { title: "Floating point: div", refused: None, rows: &[
        ("div.approx{,.ftz}.f32", "d, a, b", "quotient within 2 ulp; 0 for very large b"),
        ("div.full{,.ftz}.f32", "d, a, b", "quotient within 2 ulp in the full range"),
        ("div{.rn,.rz,.rm,.rp}{,.ftz}.f32", "d, a, b", "quotient"),
        ("div{.rn,.rz,.rm,.rp}.f64", "d, a, b", "quotient"),
    ] },
    Section { title: "Floating point: abs", refused: None, rows: &[
        ("abs{,.ftz}.f32", "d, a", "absolute value"),
        ("abs.f64", "d, a", "absolute value"),
    ] },
    Section { title: "Floating point: neg", refused: None, rows: &[
        ("neg{,.ftz}.f32", "d, a", "negation"),
        ("neg.f64", "d, a", "negation"),
    ] },
    Section { title: "Floating point: min", refused: None, rows: &[
        ("min{,.ftz}.f32", "d, a, b", "the smaller; a number wins over NaN"),
        ("min{,.ftz}.NaN.f32", "d, a, b", "the smaller; NaN wins"),
        ("min{,.ftz}{,.NaN}.xorsign.abs.f32", "d, a, b", "the smaller magnitude, with the product of the signs"),
        ("min.f64", "d, a, b", "the smaller; a number wins over NaN"),
    ] },
    Section { title: "Floating point: max", refused: None, rows: &[
        ("max{,.ftz}.f32", "d, a, b", "the larger; a number wins over NaN"),
        ("max{,.ftz}.NaN.f32", "d, a, b", "the larger; NaN wins"),
        ("max{,.ftz}{,.NaN}.xorsign.abs.f32", "d, a, b", "the larger magnitude, with the product of the signs"),
        ("max.f64", "d, a, b", "the larger; a number wins over NaN"),
    ] },
    Section { title: "Floating point: rcp", refused: None, rows: &[
        ("rcp.approx{,.ftz}.f32", "d, a", "reciprocal, approximate"),
        ("rcp{.rn,.rz,.rm,.rp}{,.ftz}.f32", "d, a", "reciprocal"),
        ("rcp{.rn,.rz,.rm,.rp}.f64", "d, a", "reciprocal"),
    ] },
    Section { title: "Floating point: sqrt", refused: None, rows: &[
        ("sqrt.approx{,.ftz}.f32", "d, a", "square root, approximate"),
        ("sqrt{.rn,.rz,.rm,.rp}{,.ftz}.f32", "d, a", "square root"),
        ("sqrt{.rn,.rz,.rm,.rp}.f64", "d, a", "square root"),
    ] },
    Section { title: "Floating point: rcp.approx.ftz.f64", refused: None, rows: &[
        ("rcp.approx.ftz.f64", "d, a", "reciprocal from the upper 32 bits"),
    ] },
    Section { title: "Floating point: rsqrt", refused: None, rows: &[
        ("rsqrt.approx{,.ftz}.f32", "d, a", "reciprocal square root, approximate"),
        ("rsqrt.approx.f64", "d, a", "reciprocal square root, approximate"),
    ] },
    Section { title: "Floating point: rsqrt.approx.ftz.f64", refused: None, rows: &[
        ("rsqrt.approx.ftz.f64", "d, a", "reciprocal square root from the upper 32 bits"),
    ] },
    Section { title: "Floating point: sin", refused: None, rows: &[
        ("sin.approx{,.ftz}.f32", "d, a", "sine, approximate"),
    ] },
    Section { title: "Floating point: cos", refused: None, rows: &[
        ("cos.approx{,.ftz}.f32", "d, a", "cosine, approximate"),
    ] },
    Section { title: "Floating point: lg2", refused: None, rows: &[
        ("lg2.approx{,.ftz}.f32", "d, a", "logarithm to base 2, approximate"),
    ] },
    Section { title: "Floating point: ex2", refused: None, rows: &[
        ("ex2.approx{,.ftz}.f32", "d, a", "power of 2, approximate"),
    ] },
    Section { title: "Floating point: tanh", refused: None, rows: &[
        ("tanh.approx.f32", "d, a", "hyperbolic tangent, approximate"),
    ] },
];
