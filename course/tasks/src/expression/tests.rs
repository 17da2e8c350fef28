use super::*;

const WHOLE: [(&str, i64); 3] = [("M", 100), ("N", 33), ("K", 7)];

#[test]
fn expressions_are_those_of_c() {
    let value = |text| evaluate(text, &WHOLE);
    assert_eq!(value("(N + 31) / 32"), Ok(2));
    assert_eq!(value("ceil_div(M, 32) * 2 - 1"), Ok(7));
    assert_eq!(value("M - N - K * 2 % 4"), Ok(65));
    assert_eq!(value("max(min(M, N), K)"), Ok(33));
}

#[test]
fn others_have_fractions() {
    let value = |text| evaluate(text, &[("BM", 16.0), ("BN", 32.0)]);
    assert_eq!(value("1.5 * 4 * (1 / BM + 1 / BN)"), Ok(0.5625));
    assert_eq!(value("ceil_div(BM, 5) % 3"), Ok(1.0));
}

#[test]
fn what_makes_no_sense_is_said() {
    let why = |text: &str| evaluate(text, &WHOLE).expect_err("refused").to_string();
    assert_eq!(why("M / 0"), "this divides by zero");
    assert_eq!(why("ceil(M / 32)"), "numbers are integers here, and / rounds down: write ceil_div(a, b)");
    assert_eq!(why("(M"), "a parenthesis is not closed");
    assert_eq!(why("M +"), "it ends too early");
    assert_eq!(why("P"), "`P` is not known; there are M, N, K, ceil_div, min and max");
    assert_eq!(why("M 3"), "unexpected `3` after the expression");
    assert_eq!(why("1.5 * M"), "`1.5` is not a whole number");
    assert_eq!(why(&"(".repeat(1000)), "it is nested too deeply");
    assert_eq!(why("9223372036854775807 + 1"), "the number is too large");
    assert_eq!(why("ceil_div(M, 0)"), "this divides by zero");
    assert!(why("M & 3").contains("after the expression"));
}
