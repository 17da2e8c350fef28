//! Oversized PTX must give an answer, without a panic or a long wait. `tests::torture` has damaged PTX.

use super::*;

/// Decodes what parses; any answer passes.
fn survive(text: &str) {
    let Ok(module) = ::ptx::parse(text) else { return };
    let Ok(variables) = module_variables(&module, &Account::default()) else { return };
    let mut symbols = Symbols::new();
    for (at, variable) in variables.iter().enumerate() {
        symbols.insert(&variable.name, (at as u64 + 1) << 40);
    }
    match decode(&module, &symbols, CpuLevel::Baseline, &Account::default()) {
        Err(DecodeError::Internal(message)) => panic!("{message}\n{text}"),
        Err(other) => assert!(!other.to_string().is_empty()),
        Ok(_) => {}
    }
}

fn kernel(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<1000000>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n{body}\nret;\n}}\n"
    )
}

fn repeat(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

#[test]
fn many_of_everything() {
    let n = 20_000;
    // All registers are live at once.
    survive(&kernel(&format!(
        "{}{}",
        repeat(n, |i| format!("ld.global.u32 %r{i}, [%rd1+{i}];\n")),
        repeat(n, |i| format!("st.global.u32 [%rd1], %r{i};\n"))
    )));
    // Every register has a hole in the middle.
    survive(&kernel(&repeat(2 * n, |i| format!("add.u32 %r{0}, %r{0}, {i};\n", i % n))));
    // Branches forwards, backwards, and all to one place.
    survive(&kernel(&repeat(n, |i| format!("l{i}: @%p1 bra l{};\n", (i * 7919) % n))));
    survive(&kernel(&repeat(n, |i| format!("l{i}: @%p1 bra l{};\n", n - 1 - i))));
    survive(&kernel(&repeat(n, |i| format!("l{i}: @%p1 bra l0;\n"))));
    // Registers that live across every block.
    survive(&kernel(&format!(
        "{}{}{}",
        repeat(3000, |i| format!("mov.u32 %r{i}, {i};\n")),
        repeat(3000, |i| format!("l{i}: @%p1 bra l{i};\n")),
        repeat(3000, |i| format!("st.global.u32 [%rd1], %r{i};\n"))
    )));
    // Nested deeply.
    survive(&kernel(&format!("{}{}", "{".repeat(n), "}".repeat(n))));
}

/// A chain of functions, each of which calls the next one twice.
#[test]
fn exponential_inlining_is_refused() {
    let functions = repeat(30, |i| {
        let i = 29 - i;
        let calls = if i == 29 { String::new() } else { format!("call f{0}; call f{0};", i + 1) };
        format!(".func f{i}() {{ {calls} ret; }}\n")
    });
    let text = kernel("call f0;").replace(".visible", &format!("{functions}.visible"));
    let module = ::ptx::parse(&text).expect("parses");
    let error = decode(&module, &Symbols::new(), CpuLevel::Baseline, &Account::default()).expect_err("too big");
    assert_eq!(
        error.to_string(),
        "line 14: a kernel of more than 1048576 operations, with its functions inlined, is not supported"
    );
}
