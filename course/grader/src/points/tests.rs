use super::*;

#[test]
fn a_file_that_is_no_table_of_points_is_refused() {
    for (text, expected) in [
        ("[row]\nreport = \"all\"\n", "points.toml: row: report: a number of points"),
        ("row = 4\n", "points.toml: row: a table of points, as [row]"),
        ("[row\n", "points.toml:1: unclosed table, expected `]`"),
    ] {
        assert_eq!(parse(text, "points.toml").expect_err(text).to_string(), expected);
    }
}
