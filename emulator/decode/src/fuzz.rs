//! Damaged and oversized PTX must give an answer, without a panic or a long wait.

use proptest::prelude::*;

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

/// The PTX files of the repository.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["kernels/ptx", "tests/data/corpus"] {
        let folder = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).expect("kernels are there").map(|e| e.expect("an entry").path()).collect();
        paths.sort();
        paths.retain(|p| p.extension().is_some_and(|e| e == "ptx"));
        texts.extend(paths.iter().map(|p| std::fs::read_to_string(p).expect("text")));
    }
    texts
}

/// Words and punctuation of a text, each with the space behind it.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || "%_$.".contains(c);
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let end = end + rest[end..].find(|c: char| !c.is_whitespace()).unwrap_or(rest.len() - end);
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(
        std::env::var("DECODE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
    ) })]
    #[test]
    fn damaged_kernels(which in 0usize..1000, damage in prop::collection::vec((0u8..5, 0usize..1 << 20, 0usize..1 << 20), 1..6)) {
        let texts = texts();
        let text = &texts[which % texts.len()];
        let mut tokens = tokens(text);
        for (kind, a, b) in damage {
            let (a, b) = (a % tokens.len(), b % tokens.len());
            match kind {
                0 => { tokens.swap(a, b); }
                1 => { tokens[a] = tokens[b]; }
                2 => { tokens.remove(a); }
                3 => { tokens.insert(a, tokens[b]); }
                // Replace by tokens from elsewhere.
                _ => {
                    let piece = tokens[b..(b + 12).min(tokens.len())].to_vec();
                    tokens.splice(a..a, piece);
                }
            }
            if tokens.len() < 2 { break; }
        }
        survive(&tokens.concat());
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
