use super::*;

#[test]
fn a_variable_that_switches_short_cuts_on_is_named() {
    let with =
        |name: &'static str, value: &'static str| short_cut(move |asked| (asked == name).then(|| value.to_owned()));
    for name in SHORT_CUTS {
        assert_eq!(with(name, "1"), Some(name));
        assert_eq!(with(name, "0"), None);
        assert_eq!(with(name, " "), None);
    }
    assert_eq!(with("NVIDIA_TF32_OVERRIDES", "1"), None);
}

#[test]
fn rows_are_read_as_columns() {
    let shape = Shape { m: 2, n: 3, k: 5 };
    let of = |a, b| {
        let flags = Flags::new(Work::SgemmTransposed { a, b }, shape);
        assert_eq!((flags.m, flags.n, flags.k, flags.c_stride), (3, 2, 5, 3));
        ((flags.first, flags.first_stride), (flags.second, flags.second_stride))
    };
    // B as it lies has rows of N = 3 elements, transposed of K = 5; A of K = 5, transposed of M = 2.
    assert_eq!(of(false, false), ((Op::CUBLAS_OP_N, 3), (Op::CUBLAS_OP_N, 5)));
    assert_eq!(of(true, false), ((Op::CUBLAS_OP_N, 3), (Op::CUBLAS_OP_T, 2)));
    assert_eq!(of(false, true), ((Op::CUBLAS_OP_T, 5), (Op::CUBLAS_OP_N, 5)));
    assert_eq!(of(true, true), ((Op::CUBLAS_OP_T, 5), (Op::CUBLAS_OP_T, 2)));
}
