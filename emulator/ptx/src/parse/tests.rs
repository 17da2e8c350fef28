//! Facts about reading, one line each.

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

fn check(body: &str, expected: &str) {
    assert_eq!(first(body), expected);
}

#[test]
fn operands() {
    check(
        "x %r1, -4, 0x10U, 010, 0b11;",
        "[Name(\"%r1\"), Immediate(Int(-4)), Immediate(Int(16)), Immediate(Int(8)), Immediate(Int(3))]",
    );
    check(
        "x 0f3F800000, -1.5;",
        "[Immediate(F32(1065353216)), Immediate(F64(13832806255468478464))]",
    );
    check(
        "x [%rd1+-8], [sym+4], [4096];",
        "[Address { base: Some(\"%rd1\"), offset: -8 }, Address { base: Some(\"sym\"), offset: 4 }, Address { base: None, offset: 4096 }]",
    );
    check(
        "x %tid.x, %v.y, !%p1, _|%p2;",
        "[Name(\"%tid.x\"), Component(\"%v\", 'y'), NotPred(\"%p1\"), Pair(Name(\"_\"), Name(\"%p2\"))]",
    );
    check(
        "x [t, s, {%f1, %f2}];",
        "[Texture { handles: [Name(\"t\"), Name(\"s\")], coordinates: [Name(\"%f1\"), Name(\"%f2\")] }]",
    );
    check(
        "call (r), f, (a, b), p;",
        "[List([Name(\"r\")]), Name(\"f\"), List([Name(\"a\"), Name(\"b\")]), Name(\"p\")]",
    );
}

#[test]
fn errors_say_what_was_expected() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            parse(text).map_err(|error| error.to_string()),
            Err(expected.to_owned())
        );
    };
    check(
        "",
        "line 1, column 1: expected `.version`, with which a PTX module starts, found the end of the file",
    );
    check(
        &format!("{HEAD}.entry foo()\n{{ ret;"),
        "line 5, column 7: expected an instruction, a directive or `}`, found the end of the file: \
         `{` of kernel `foo` (line 5) is never closed",
    );
    check(
        &format!("{HEAD}.entry f() {{ add.s32 %r1 %r2; }}"),
        "line 4, column 26: expected `,` or `;`, found `%r2`",
    );
    check(
        &format!("{HEAD}.entry f() {{ x 99999999999999999999; }}"),
        "line 4, column 16: `99999999999999999999` is not a number that PTX knows",
    );
    check(
        &format!("{HEAD}.entry f() {{ {} }}", "{".repeat(100_000)),
        "line 4, column 213: nested more than 200 deep",
    );
}
