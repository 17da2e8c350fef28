use super::*;

/// Returns a text for each seed: statements with random operators.
fn source(seed: usize, names: &str) -> String {
    const OPERATORS: [&str; 8] = ["+", "-", "*", "/", "&", "|", "^", "<"];
    let mut state = seed as u64;
    let mut operator = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        OPERATORS[(mixed >> 61) as usize]
    };
    let mut out = String::from("__global__ void k(int M) {\n");
    for at in 0..60 {
        let ops: [&str; 5] = std::array::from_fn(|_| operator());
        let [a, b, c, d, e] = ops;
        out.push_str(&format!("float {names}{at} = p {a} q {b} r {c} s {d} t {e} {at};\n"));
    }
    out + "}\n"
}

fn named(class: &[(&str, String)], starter: &str) -> Vec<String> {
    let sources: Vec<(&str, &str)> = class.iter().map(|(name, text)| (*name, text.as_str())).collect();
    pairs("v02", starter, &sources)
        .iter()
        .map(|pair| format!("{} {} {}", pair.students[0], pair.students[1], pair.share))
        .collect()
}

#[test]
fn renaming_and_comments_hide_nothing() {
    let renamed = source(1, "y").replace('\n', " // mine\n");
    let class = [("bob", source(1, "x")), ("ada", renamed), ("eve", source(2, "x"))];
    assert_eq!(named(&class, ""), ["ada bob 1"]);
}

#[test]
fn equal_sources_are_compared_once_and_their_pairs_are_few() {
    let names: Vec<String> = (0..4000).map(|at| format!("s{at:04}")).collect();
    // Eight groups of equal sources, so that nothing is common to a quarter of the class.
    let texts: Vec<String> = (0..8).map(|seed| source(seed, "x")).collect();
    let sources: Vec<(&str, &str)> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), texts[at % 8].as_str())).collect();
    let found = pairs("v02", "", &sources);
    assert_eq!(found.len(), MAX_PAIRS);
    assert!(found.iter().all(|pair| pair.share == 1.0), "{found:?}");
    assert_eq!(first_pairs(&["a", "c"], Some(&["b", "d"])), [["a", "b"], ["a", "d"], ["b", "c"], ["c", "d"]]);
    assert_eq!(first_pairs(&["a", "b", "c"], None), [["a", "b"], ["a", "c"], ["b", "c"]]);
}

#[test]
fn what_the_starter_has_does_not_count() {
    let class = [("ada", source(1, "x")), ("bob", source(1, "x"))];
    assert!(named(&class, &source(1, "z")).is_empty());
}

#[test]
fn what_everybody_has_does_not_count() {
    let names = ["a", "b", "c", "d", "e"];
    let class: Vec<(&str, String)> = names.iter().map(|name| (*name, source(1, "x"))).collect();
    assert!(named(&class, "").is_empty());
}

#[test]
fn odd_texts_have_tokens_too() {
    for text in ["", "\"", "'\\", "/*", "//", "ä\u{0}€", "1e+", "/* x */ y"] {
        let _ = tokens(text);
    }
    assert_eq!(tokens("x = 'a' + \"b\\\"\"; // c"), ["n", "=", "s", "+", "s", ";"]);
}
