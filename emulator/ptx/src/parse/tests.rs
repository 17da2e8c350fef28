//! Tests of the parser, one line each.

use super::parse;
use crate::ast::{Item, Statement};

const HEAD: &str = ".version 8.4\n.target sm_80\n.address_size 64\n";

fn first(body: &str) -> String {
    match parse(&format!("{HEAD}.entry f() {{ {body} }}")) {
        Err(error) => error.to_string(),
        Ok(module) => match &module.items[0] {
            Item::Function(function) => match function.body.as_deref() {
                Some([Statement::Instruction(instruction), ..]) => format!("{:?}", instruction.operands),
                other => format!("{other:?}"),
            },
            other => format!("{other:?}"),
        },
    }
}

/// Returns texts with the expected messages.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().map(|row| row.split_once(" => ").expect("an arrow"))
}

#[test]
fn operands() {
    rows(include_str!("operands.txt")).for_each(|(body, expected)| assert_eq!(first(body), expected));
}

#[test]
fn errors_say_what_was_expected() {
    let check = |text: &str, expected: &str| {
        assert_eq!(parse(text).map_err(|error| error.to_string()), Err(expected.to_owned()));
    };
    check("", "line 1, column 1: expected `.version`, with which a PTX module starts, found the end of the file");
    check(
        &format!("{HEAD}.entry foo()\n{{ ret;"),
        "line 5, column 7: expected an instruction, a directive or `}`, found the end of the file: \
         `{` of kernel `foo` (line 5) is never closed",
    );
    check(&format!("{HEAD}.entry f() {{ add.s32 %r1 %r2; }}"), "line 4, column 26: expected `,` or `;`, found `%r2`");
    check(
        &format!("{HEAD}.entry f() {{ x 99999999999999999999; }}"),
        "line 4, column 16: `99999999999999999999` is not a number that PTX knows",
    );
    check(&format!("{HEAD}.entry f() {{ {} }}", "{".repeat(100_000)), "line 4, column 213: nested more than 200 deep");
}

/// clang 14 writes the first text with `-g`, and rustc 1.96 also the label with `-Cdebuginfo=line-tables-only`.
#[test]
fn debug_sections_of_llvm() {
    let text = ".version 7.0\n.target sm_80, debug\n.entry f()\n{\nLfunc_begin0:\nret;\n}\n\t.file\t1 \"f.cu\"\n\
                \t.section\t.debug_info\n\t{\n.b32 55\n.b64 Lfunc_begin0\n\t}\n\t.section\t.debug_loc\t{\t}\n";
    assert_eq!(parse(text).map(|module| module.items.len()), Ok(3));
    let error = parse(&format!("{text}$L__sec_end0:\n")).expect_err("a label").to_string();
    assert!(error.contains("rustc leaves it out with -Cdebuginfo=line-directives-only"), "{error}");
}

#[test]
fn nesting_is_limited_everywhere() {
    for opening in ["[", "{", "(", "[{", "({"] {
        check_deep(&format!(".entry f() {{ call {}; }}", opening.repeat(100_000)));
    }
    check_deep(&format!(".global .b32 a = {};", "{".repeat(100_000)));
}

fn check_deep(body: &str) {
    let error = parse(&format!("{HEAD}{body}")).map_err(|error| error.message);
    assert_eq!(error, Err("nested more than 200 deep".to_owned()));
}

#[test]
fn truncated_files_name_what_is_open() {
    for (text, expected) in rows(include_str!("truncated.txt")) {
        let text = text.replace("\\n", "\n");
        let found = parse(&format!("{HEAD}{text}")).map_err(|error| error.message).err().unwrap_or_default();
        assert_eq!(found, expected);
    }
}

#[test]
fn layout_does_not_matter() {
    let unix = format!("{HEAD}.entry f() {{ // c\n\tadd.s32 %r1,/* c */ %r2, 5;\n}}");
    let dense = ".version 8.4 .target sm_80 .address_size 64.entry f(){add.s32 %r1,%r2,5;}";
    let read = |text: &str| parse(text).map(crate::Module::without_spans);
    assert_eq!(read(&unix), read(&unix.replace('\n', "\r\n")));
    assert_eq!(read(&unix), read(dense));
}

#[test]
fn spans_cover_the_instruction() {
    let text = format!("{HEAD}.entry f() {{\n  @%p1 add.s32 %r1,\n %r2, 5;\n}}");
    let Ok(module) = parse(&text) else { panic!("does not read") };
    let Item::Function(function) = &module.items[0] else { panic!("not a function") };
    let Some([Statement::Instruction(instruction)]) = function.body.as_deref() else { panic!("no instruction") };
    let span = instruction.span;
    assert_eq!((span.line, span.column), (5, 3));
    assert_eq!(&text[span.start as usize..span.end as usize], "@%p1 add.s32 %r1,\n %r2, 5;");
}
