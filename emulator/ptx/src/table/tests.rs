//! Tests of the table.

use super::*;

fn module(body: &str) -> Module {
    let text = format!(".version 8.4\n.target sm_90\n.address_size 64\n.entry f() {{\n{body}\n}}");
    crate::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn patterns_expand_in_order() {
    assert_eq!(expand("add{,.sat}.s32"), ["add.s32", "add.sat.s32"]);
    assert_eq!(expand("x{.a,.b.c}.d{.e,.f}"), ["x.a.d.e", "x.a.d.f", "x.b.c.d.e", "x.b.c.d.f"]);
    assert_eq!(expand("mma.*"), ["mma"]);
}

#[test]
fn operand_lists_are_counted() {
    let check = |operands, least, most| assert_eq!(arity(operands), least..=most, "{operands}");
    use super::pattern::arity;
    check("", 0, 0);
    check("d, a, b", 3, 3);
    check("d, [a, c]{, e}", 2, 3);
    check("{(ret), }func{, (args)}{, proto}", 1, 4);
    check("d|p, membermask", 2, 2);
    check("{[a], size}", 0, 2);
}

#[test]
fn every_form_is_found_in_its_own_row() {
    let mut n_forms = 0;
    for row in rows().iter().filter(|row| row.is_supported() && row.n_forms() <= 4096) {
        for mnemonic in expand(row.pattern) {
            let mut words = mnemonic.split('.');
            let opcode = words.next().unwrap_or_default();
            let modifiers: Vec<&str> = words.collect();
            let found: Vec<&str> = matching(opcode, &modifiers)
                .filter(|found| found.arity() == row.arity() && found.is_supported())
                .map(|found| found.pattern)
                .collect();
            assert_eq!(found, [row.pattern], "{mnemonic}");
            n_forms += 1;
        }
    }
    assert!(n_forms > 2000, "{n_forms}");
}

#[test]
fn the_table_is_whole() {
    let lines = TEXTS.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with(' '));
    assert!(lines.clone().all(|line| line.split("  ").filter(|column| !column.trim().is_empty()).count() == 3));
    assert_eq!(rows().len(), lines.count());
    assert!(rows().iter().filter(|row| row.is_supported()).count() >= 250);
}

#[test]
fn only_refused_rows_are_open_ended() {
    for row in rows().iter().filter(|row| row.is_supported()) {
        assert!(!row.pattern.contains('*'), "{}", row.pattern);
    }
}

/// Returns the rows of a table, apart from comments, each split at its arrow, if it has one.
fn lines(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").map_or((line, None), |(of, message)| (of, Some(message))))
}

#[test]
fn messages() {
    for (body, expected) in lines(include_str!("tests/messages.txt")) {
        let found = check(&module(body)).map_err(|error| error.to_string()).err();
        assert_eq!(found.as_deref(), expected, "{body}");
    }
}

#[test]
fn modifiers_in_any_order_have_the_manuals() {
    for (written, canonical) in lines(include_str!("tests/orders.txt")) {
        let mut module = module(&format!("{written} %x;"));
        canonicalise(&mut module);
        let Some(Item::Function(function)) = module.items.last() else {
            panic!("a function");
        };
        let Some([Statement::Instruction(instruction)]) = function.body.as_deref() else {
            panic!("an instruction");
        };
        assert_eq!(instruction.mnemonic(), canonical.unwrap_or(written));
    }
}
