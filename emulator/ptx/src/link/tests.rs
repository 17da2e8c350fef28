use super::*;

const HEAD: &str = ".version 8.4\n.target sm_80\n.address_size 64\n";

/// Returns the text of the linked module, without the header and blank lines.
fn linked(texts: &[&str]) -> String {
    let inputs = texts.iter().zip(["a", "b"]).map(|(text, name)| Input {
        name: name.to_owned(),
        module: crate::parse(&format!("{HEAD}{text}")).expect("valid PTX"),
    });
    match link(&mut inputs.collect()) {
        Ok(module) => {
            let text = module.to_string();
            let again = crate::parse(&text).expect("what is printed can be read");
            assert_eq!(again.without_spans(), module.without_spans());
            let lines = text.lines().skip(3).filter(|line| !line.is_empty());
            lines.map(|line| format!("{line}\n")).collect()
        }
        Err(error) => format!("{error}\n"),
    }
}

#[track_caller]
fn check(texts: &[&str], expected: &str) {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(plain(&linked(texts)), plain(expected));
}

#[test]
fn a_prototype_that_differs() {
    let declared = ".extern .func (.param .b32 r) f(.param .b32 x, .param .b32 y);";
    let defined = ".visible .func f(.param .b32 x) { ret; }";
    // Wording of the linker of an H200's driver.
    let message = "Prototype doesn't match for 'f' in 'b', first defined in 'b'";
    check(&[declared, defined], message);
    check(&[defined, declared], "Prototype doesn't match for 'f' in 'b', first defined in 'a'");
    check(
        &[".extern .func f(.param .b32 x);", ".visible .func f(.param .u32 y) { ret; }"],
        ".visible .func f(.param .u32 y) { ret; }",
    );
}

#[test]
fn a_local_name_hides_that_of_the_module() {
    let first = ".global .u32 g;";
    let second = ".global .u32 g;\n.visible .entry k(.param .u64 g) { .reg .u64 a; ld.param.u64 a, [g]; ret; }";
    let both = ".global .u32 g; .global .u32 g$link2; .visible .entry k(.param .u64 g) { .reg .u64 a; ld.param.u64 a, [g]; ret; }";
    check(&[first, second], both);
}

#[test]
fn one_weak_definition_is_enough() {
    let weak = ".weak .func f() { ret; }";
    check(&[weak, weak], weak);
    check(&[weak, ".visible .func f() { trap; ret; }"], ".visible .func f() { trap; ret; }");
}

#[test]
fn what_nobody_defines() {
    let load = ".extern .global .u32 g;\n.entry k() { .reg .u32 a; ld.global.u32 a, [g]; ret; }";
    check(&[load], "Undefined reference to 'g' in 'a'");
    check(&[".extern .global .u32 g;"], "");
    let call = ".extern .func f();\n.entry k() { call f, (); ret; }";
    check(&[".entry one() { ret; }", call], "Undefined reference to 'f' in 'b'");
    let print = ".extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);";
    check(&[print, print], print);
}

#[test]
fn dynamic_shared_memory_is_one() {
    check(
        &[".extern .shared .align 4 .b8 s[];", ".extern .shared .align 16 .b8 s[];"],
        ".extern .shared .align 16 .b8 s[];",
    );
}

#[test]
fn files_are_numbered_again() {
    let one = ".file 1 \"a.cu\"\n.visible .entry one() { .loc 1 2 3\n ret; }";
    let two = ".file 1 \"b.cu\"\n.file 2 \"a.cu\"\n.visible .entry two() { .loc 1 2 3\n .loc 2 4 5\n ret; }";
    check(
        &[one, two],
        ".file 1 \"a.cu\" .file 2 \"b.cu\" .visible .entry one() { .loc 1 2 3 ret; } \
         .visible .entry two() { .loc 2 2 3 .loc 1 4 5 ret; }",
    );
}
