fn check(text: &str, expected: &str) {
    let text = format!(".version 8.4 .target sm_80 .entry f() {{\nx {text};\n}}");
    let found = match crate::parse(&text) {
        Ok(module) => module.to_string().lines().nth(6).unwrap_or_default().trim().to_owned(),
        Err(error) => error.message,
    };
    assert_eq!(found, expected);
}

#[test]
fn expressions_become_their_values() {
    check("4*8+(1<<2), 7-2-1, 1+2*3, -5/2, -5 % 3", "x 36, 4, 7, -2, 2;");
    check("!0, !5, !0+1, ~5, -~5, (3)<<1", "x 1, 0, 2, -6, 6, 6;");
    check("0?1:2, 3>2?4:5, 1<<63, -1>>1, -1U>>63", "x 2, 4, -9223372036854775808, -1, 1;");
    check("5|3, 6&3^1, 1==1&&2<=1, 0||7", "x 7, 3, 0, 1;");
    check("2*(.u64)3, -9223372036854775808, 0xFFFFFFFFFFFFFFFF", "x 6, -9223372036854775808, 18446744073709551615;");
    check("[a+4*2], [a-4+2], [2*8], a+2*3", "x [a+8], [a+-2], [16], a+6;");
    check("1., .5, -1.5e1", "x 0d3FF0000000000000, 0d3FE0000000000000, 0dC02E000000000000;");
}

#[test]
fn expressions_can_be_wrong() {
    check("1/0", "division by zero");
    check("1.5*2", "only integers can be computed with here");
    check("1*", "expected a number, found `;`");
    check(&"-".repeat(1000), "nested more than 200 deep");
    check(&"(".repeat(1000), "nested more than 200 deep");
    check(&format!("1{}", "+(1".repeat(1000)), "nested more than 200 deep");
}
