use super::*;

#[test]
fn what_cannot_be_read_is_named_with_the_command_that_repairs_it() {
    let check = |text: &str, problem: &str| {
        let told = format!("{SHEET} {problem}; make it again with: cargo xtask profile --table");
        assert_eq!(Sheet::parse(text).expect_err("refused").to_string(), told);
    };
    let good = Sheet::default().text();
    check("{\nschema", "cannot be read: key must be a string at line 2 column 1");
    check(
        &good.replace("runs", "runes"),
        "cannot be read: unknown field `runes`, expected one of `schema`, `runs`, `launches` at line 3 column 7",
    );
    check(&good.replace('1', "2"), "has schema 2, this program reads 1");
}
