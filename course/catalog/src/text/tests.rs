use super::*;

#[test]
fn text_is_broken_between_words() {
    assert_eq!(wrapped("one two three\n\nfour", "  ", 10), "  one two\n  three\n\n  four\n");
    assert_eq!(wrapped("incomprehensibilities", "  ", 10), "  incomprehensibilities\n");
}

#[test]
fn words_have_quotes_where_a_shell_needs_them() {
    for (text, word) in [
        ("a-b_c/d.e=f:g,h+i@j%", "a-b_c/d.e=f:g,h+i@j%"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's", "'it'\\''s'"),
        ("é", "'é'"),
    ] {
        assert_eq!(shell_word(text), word);
    }
}

#[test]
fn numbers_end_with_no_zeros_behind_the_point() {
    for (value, digits, text) in [(7.5, 2, "7.5"), (2.0, 4, "2"), (0.125, 2, "0.12"), (100.0, 0, "100")] {
        assert_eq!(number(value, digits), text);
    }
}

#[test]
fn rates_have_three_figures() {
    assert_eq!([0.123, 6.25, 51.24, 4177.3].map(three_figures), ["0.12", "6.25", "51.2", "4177"]);
}

#[test]
fn devices_and_dates_are_shortened() {
    let devices = ["NVIDIA H100 80GB HBM3", "NVIDIA H200", "A Card", ""].map(short_device);
    assert_eq!(devices, ["H100", "H200", "A", ""]);
    assert_eq!(["2026-11-21T23:28:45Z", "2026-11-21"].map(day), ["2026-11-21"; 2]);
}

#[test]
fn digits_stand_by_three() {
    let numbers = [0, 999, 1000, -1_048_576].map(|n: i32| grouped(n, " "));
    assert_eq!(numbers, ["0", "999", "1 000", "-1 048 576"]);
}

#[test]
fn markup_and_control_characters_are_escaped() {
    assert_eq!(escaped("<a b=\"c\">\n\x1b[1m & \u{ffff}"), "&lt;a b=&quot;c&quot;&gt;\n\u{fffd}[1m &amp; \u{fffd}");
}

#[test]
fn numbers_stand_to_the_right() {
    let mut table = Table::new(["kernel", "time"]);
    table.row(["naive", "10.5"]);
    table.row(["register tile", "1.25"]);
    assert_eq!(table.render(Paint::plain()), "  kernel         time\n  naive          10.5\n  register tile  1.25\n");
}

#[test]
fn columns_in_which_nothing_stands_are_left_out() {
    let mut table = Table::new(["", "kernel", "excess", "time"]).left(2);
    table.row(["", "naive", "", "10.5"]);
    table.row(["", "tile", "", "9"]);
    assert_eq!(
        table.without_empty_columns().render(Paint::plain()),
        "  kernel  time\n  naive   10.5\n  tile       9\n"
    );
}
