use super::*;

/// Returns the headers around the first `@`.
#[track_caller]
fn around(text: &str) -> String {
    let at = text.find('@').expect("a place");
    let statements = Statements::new(&text.replace('@', "x"));
    let headers = statements.around(at).into_iter().map(|e| match e.control {
        Control::Else => format!("else of {}", e.header),
        _ => e.header.clone(),
    });
    headers.collect::<Vec<_>>().join(" > ")
}

#[test]
fn headers_govern_what_stands_under_them() {
    assert_eq!(around("void f() { if (a < 3) { g(); } @(); }"), "");
    assert_eq!(around("void f() { if (a < 3)\n @(); }"), "if (a < 3)");
    assert_eq!(around("void f() { if (a) b(); else { for (;;) if (c) @(); } }"), "else of if (a) > for (;;) > if (c)");
    assert_eq!(around("void f() { if (a) if (b) c(); else d(); else @(); }"), "else of if (a)");
    assert_eq!(around("void f() { do { @(); } while (a\n > 0); }"), "do … while (a > 0)");
    assert_eq!(around("void f() { switch (a) { case N::B: if (b) @(); default: c(); } }"), "switch (a) > if (b)");
}

#[test]
fn braces_of_other_kinds_are_passed_over() {
    assert_eq!(around("struct S { int a[2] = {1, 2}; }; int t[] = {3, 4}; void f() { while (x) @(); }"), "while (x)");
    assert_eq!(around("void f() { auto g = [&](int i) { if (i) h(); }; if (a) g(@); }"), "if (a)");
    assert_eq!(around("#define A { if (x) \\\n {\nvoid f() { if constexpr (N > 1) { @(); } }"), "if (N > 1)");
}

#[test]
fn a_text_that_does_not_fit_together_says_nothing() {
    assert_eq!(around("void f() { if (a) { @(); }"), "");
    assert_eq!(around("} void f() { if (a) { @(); } }"), "");
}

#[test]
fn a_loop_without_braces_ends_with_its_statement() {
    let text = "void f() { for (;;) if (a) b();\n  c(); }";
    let statements = Statements::new(text);
    let around = statements.around(text.find("b()").expect("a place"));
    let ends: Vec<usize> = around.iter().map(|one| one.body.end).collect();
    assert_eq!(ends, [text.find('\n').expect("a line's end"); 2]);
}

#[test]
fn statements_end_at_their_semicolon() {
    let text = "void f() { for (int i = 0; i < 3; ++i) { a = b\n  * c; } }";
    let statements = Statements::new(text);
    let found = statements.statement_at(text.find("c;").expect("there")).expect("a statement");
    assert_eq!(&text[found], "a = b\n  * c;");
}
