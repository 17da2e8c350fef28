use super::super::tests::class;
use super::*;

#[test]
fn names_are_no_formulas() {
    let text = table(&class());
    assert_eq!(
        text,
        "student,points,of,percent,v02.right,codes,notes\n\"'=cmd()|\"\"ada\"\"\",4,8,50,4,,a note & more\n\
             <b>bob</b>,0,8,0,0,wrong-result,a note & more\n"
    );
}

#[test]
fn cells_are_text_in_every_spreadsheet() {
    for (text, expected) in [
        ("ada", "ada"),
        ("O'Neill, Ada", "\"O'Neill, Ada\""),
        ("a;=1+1", "\"a;=1+1\""),
        ("=cmd", "'=cmd"),
        ("\t=cmd", "' =cmd"),
        ("\r=cmd", "' =cmd"),
        ("\u{a0}\u{feff}@SUM(1)", "'\u{a0}\u{feff}@SUM(1)"),
        ("＝cmd", "'＝cmd"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠x", "'＠x"),
        ("ok\n=cmd", "\"'ok\n=cmd\""),
        ("a\"b", "\"a\"\"b\""),
        ("", ""),
    ] {
        assert_eq!(cell(text), expected, "{text:?}");
    }
}
