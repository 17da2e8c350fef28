use super::*;

#[test]
fn numbers_have_no_more_digits_than_they_need() {
    assert_eq!([1.0, 0.5, 10.0, 1.0 / 3.0, -0.001].map(short), ["1", "0.5", "10", "0.33", "0"]);
}

#[test]
fn text_cannot_become_markup() {
    let mut drawing = Drawing::titled("a < b", "c & d");
    drawing.text("", Anchor::Start, (0.0, 0.0), "<script>");
    let svg = drawing.finish(10.0);
    assert!(svg.contains("a &lt; b") && svg.contains("c &amp; d") && svg.contains("&lt;script&gt;"));
}

#[test]
fn a_picture_opens_alone() {
    let svg = Drawing::titled("a", "b").finish(10.0);
    let comment = svg.strip_prefix("<!--").and_then(|rest| rest.split_once("-->"));
    assert!(comment.is_some_and(|(inside, _)| !inside.contains("--")), "{svg}");
}
