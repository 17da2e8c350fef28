use super::*;

#[test]
fn long_numbers_are_grouped() {
    assert_eq!([7, 1000, 2_000_000].map(grouped), ["7", "1,000", "2,000,000"]);
}

#[test]
fn ranges_join_neighbours() {
    assert_eq!(ranges([0, 1, 2, 7, 9, 10].into_iter()), "0..2, 7, 9..10");
}

#[test]
fn ordinals_end_as_spoken() {
    assert_eq!([1, 2, 3, 4, 11, 12, 21].map(nth).join(" "), "1st 2nd 3rd 4th 11th 12th 21st");
}

#[test]
fn code_stays_on_one_line() {
    assert_eq!(wrap(&format!("guard it: {}", code("if (row < M)")), 14), ["guard it:", "`if (row < M)`"]);
}
