use super::*;

#[test]
fn numbers_take_five_characters() {
    let cases = [
        (0.0, "0"),
        (31.5, "31.5"),
        (65_536.0, "65536"),
        (131_072.0, "131k"),
        (999_499.0, "999k"),
        (1_048_576.0, "1.05M"),
        (123_456_789.0, "123M"),
        (4.3e9, "4.30G"),
    ];
    for (value, text) in cases {
        assert_eq!(short(value), text);
    }
}

#[test]
fn columns_have_the_names_of_records() {
    for by in Column::ALL {
        assert_eq!(column(&name(*by)), Ok(*by));
    }
    assert!(column("nonsense").expect_err("refused").contains("shared-requests"));
}
