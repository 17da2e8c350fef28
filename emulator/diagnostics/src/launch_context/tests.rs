use super::*;

#[track_caller]
fn check(column: u32, expected: &str) {
    let place = Place {
        file: String::new(),
        line: 7,
        column,
        text: Some("    y[i] = x[i]".into()),
        ptx_line: 0,
        instruction: String::new(),
        is_machine_code: false,
    };
    let mut out = String::new();
    listing(&mut out, &place, &[], true);
    assert_eq!(out, expected);
}

#[test]
fn an_instruction_has_a_line_of_ptx_or_an_address() {
    let instruction = |is_machine_code| Place {
        file: String::new(),
        line: 0,
        column: 0,
        text: None,
        ptx_line: 18,
        instruction: "x".into(),
        is_machine_code,
    };
    assert_eq!(instruction(false).listed(), "PTX line 18 | x");
    assert_eq!(instruction(true).listed(), "SASS at 0x0110 | x");
}

#[test]
fn a_caret_stands_below_text() {
    check(5, "      7 |     y[i] = x[i]\n        |     ^\n");
    check(1, "      7 |     y[i] = x[i]\n");
    check(0, "      7 |     y[i] = x[i]\n");
    check(99, "      7 |     y[i] = x[i]\n");
}
