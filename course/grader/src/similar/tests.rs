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

fn compared(class: &[(&str, String)], starter: &str) -> (Vec<String>, Vec<String>) {
    let sources = class.iter().map(|(name, text)| Source { name, text, is_submission: !name.contains('/') });
    let (same, pairs) = compare("v02", starter, &sources.collect::<Vec<_>>());
    let same = same.iter().map(|same| format!("{} {}", same.students.join(" "), same.renamed));
    let pairs = pairs.iter().map(|pair| format!("{} {} {}", pair.students[0], pair.students[1], pair.share));
    (same.collect(), pairs.collect())
}

#[test]
fn renaming_and_comments_hide_nothing() {
    let renamed = source(1, "y").replace('\n', " // mine\n");
    let commented = source(2, "x").replace('\n', "\n\n/* mine */");
    let class = [("bob", source(1, "x")), ("ada", renamed), ("eve", source(2, "x")), ("kim", commented)];
    let (mut same, pairs) = compared(&class, "");
    same.sort();
    assert_eq!((same, pairs), (vec!["ada bob true".to_owned(), "eve kim false".to_owned()], Vec::new()));
}

#[test]
fn parts_are_found_and_earlier_submissions_are_compared_with_these_alone() {
    let half = |first, second| source(first, "x") + &source(second, "x");
    let class = [("ada", half(1, 2)), ("bob", half(1, 3)), ("2025/bob", half(3, 4)), ("2025/eve", half(4, 5))];
    let (same, pairs) = compared(&class, "");
    let named: Vec<&str> = pairs.iter().filter_map(|pair| pair.rsplit_once(' ')).map(|(names, _)| names).collect();
    assert_eq!((same.len(), named), (0, Vec::<&str>::new()), "half is less than is reported");
    let class =
        [("ada", source(1, "x")), ("2025/bob", half(1, 3)), ("2025/eve", half(1, 5)), ("2025/kim", source(1, "y"))];
    let (same, pairs) = compared(&class, "");
    assert_eq!(same, ["2025/kim ada true"]);
    assert!(pairs.iter().all(|pair| pair.contains("ada")), "{pairs:?}");
}

#[test]
fn equal_sources_are_named_once_whatever_many_share() {
    let names: Vec<String> = (0..4000).map(|at| format!("s{at:04}")).collect();
    let texts: Vec<String> = (0..8).map(|seed| source(seed, "x")).collect();
    let sources = names.iter().enumerate();
    let sources = sources.map(|(at, name)| Source { name, text: &texts[at % 8], is_submission: true });
    let (same, pairs) = compare("v02", "", &sources.collect::<Vec<_>>());
    assert_eq!((same.len(), same[0].students.len(), pairs.len()), (8, 500, 0));
    let names = ["a", "b", "c", "d", "e"];
    let class: Vec<(&str, String)> = names.iter().map(|name| (*name, source(1, "x"))).collect();
    assert_eq!(compared(&class, ""), (vec!["a b c d e false".to_owned()], Vec::new()));
}

#[test]
fn what_the_starter_has_does_not_count() {
    let class = [("ada", source(1, "x")), ("bob", source(1, "x"))];
    assert_eq!(compared(&class, &source(1, "z")), (Vec::new(), Vec::new()));
}

#[test]
fn odd_texts_have_tokens_too() {
    for text in ["", "\"", "'\\", "/*", "//", "ä\u{0}€", "1e+", "/* x */ y"] {
        let _ = tokens(text);
    }
    assert_eq!(tokens("x = 'a' + \"b\\\"\"; // c"), ["n", "=", "s", "+", "s", ";"]);
}
