#[track_caller]
fn check(text: &str, expected: Option<i64>) {
    let names = |name: &str, _| (name == "threadIdx.x").then_some(5);
    assert_eq!(super::value(text, 0, &names), expected, "{text}");
}

#[test]
fn expressions_have_the_values_of_c() {
    check("2 + 3 * 4 - 1", Some(13));
    check("(int)threadIdx.x * (1 << 4) % 7", Some(80 % 7));
    check("8 * sizeof(float4)", Some(128));
    check("0x10u / 3", Some(5));
    check("8 | threadIdx.x + 2 & 3 << 1 ^ 1", Some(8 | ((5 + 2) & (3 << 1)) ^ 1));
    check("threadIdx.x && 1", None);
    check("other + 1", None);
    check("1 / 0", None);
    check("a ? b : c", None);
    check(&"(".repeat(10_000), None);
}

#[test]
fn the_first_operation_that_overflows_is_named() {
    let names = |name: &str, _| (name == "row").then_some(50_000);
    let overflow = std::cell::RefCell::new(None);
    let value = super::evaluate("2 + (row * 50000 + 7) % 100", 0, &names, Some(&overflow));
    assert_eq!(value, Some(2 + i64::from((2_500_000_007u32 as i32) % 100)));
    let found = overflow.into_inner().expect("it overflows");
    assert_eq!((found.text.as_str(), found.exact, found.wrapped), ("row * 50000", 2_500_000_000, -1_794_967_296));
    let none = std::cell::RefCell::new(None);
    let wide = super::evaluate("(long long)row * 50000", 0, &names, Some(&none));
    assert_eq!((wide, none.into_inner()), (Some(2_500_000_000), None));
}
