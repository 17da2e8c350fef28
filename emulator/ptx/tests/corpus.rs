//! Real modules, whole and damaged: nothing panics, and each reads the same after printing.

use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

/// Output of compilers, and findings of the fuzzer that are worth keeping.
static CORPUS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("kernels/ptx")).into_iter().flatten().flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path()) {
            found.push((entry.path().display().to_string(), text));
        }
    }
    let archive = std::fs::read(root.join("fuzz/corpus/parse.tar")).expect("the fuzzer's corpus is committed");
    for (name, bytes) in unpacked(&archive) {
        if let Ok(text) = String::from_utf8(bytes.to_vec()) {
            found.push((format!("fuzz/corpus/{name}"), text));
        }
    }
    found.sort();
    found
});

/// Names and contents of the plain files of a tar archive.
fn unpacked(mut archive: &[u8]) -> Vec<(String, &[u8])> {
    const BLOCK: usize = 512;
    let text = |field: &[u8]| String::from_utf8_lossy(field).trim_end_matches(['\0', ' ']).to_owned();
    let mut files = Vec::new();
    while let Some((header, rest)) = archive.split_at_checked(BLOCK)
        && header[0] != 0
    {
        let size = usize::from_str_radix(&text(&header[124..136]), 8).expect("a size in octal digits");
        let is_file = matches!(header[156], 0 | b'0');
        if is_file {
            files.push((text(&header[..100]), &rest[..size]));
        }
        archive = &rest[size.next_multiple_of(BLOCK)..];
    }
    files
}

/// Returns whether the text reads; panics where reading, looking up or printing goes wrong.
fn check(text: &str) -> bool {
    let Ok(module) = ptx::parse(text) else { return false };
    let _ = ptx::table::check(&module);
    let printed = module.to_string();
    let again = ptx::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert!(again.without_spans() == module.without_spans(), "{printed}");
    true
}

#[test]
fn committed_modules_read() {
    let mut n_found = 0;
    for (path, text) in CORPUS.iter().filter(|(path, _)| path.ends_with(".ptx")) {
        assert!(check(text), "{path}: {:?}", ptx::parse(text).err());
        n_found += 1;
    }
    assert!(n_found > 0, "no committed PTX found");
}

#[test]
fn the_corpus_reads_or_is_refused() {
    CORPUS.iter().for_each(|(_, text)| {
        check(text);
    });
    let n_texts = CORPUS.iter().filter(|(name, _)| name.starts_with("fuzz/")).count();
    assert!(n_texts > 500, "only {n_texts} texts of the fuzzer");
}

#[test]
fn every_prefix_is_refused_or_read() {
    // The shortest text suffices: the work grows with the square of the length.
    let shortest = CORPUS.iter().filter(|(path, _)| path.ends_with(".ptx")).min_by_key(|(_, text)| text.len());
    let Some((_, text)) = shortest else { return };
    for (end, _) in text.char_indices() {
        check(&text[..end]);
    }
}

/// Fragments that are likely to upset a parser.
#[rustfmt::skip]
const PIECES: [&str; 24] = [
    "{", "}", "(", ")", "[", "]", "<", ">", ";", ":", ",", "@", "!", "|", "-", "+", "::", ".", "\"",
    "/*", "0x", "99999999999999999999", ".b32", "generic(",
];

fn boundary(text: &str, at: prop::sample::Index) -> usize {
    let mut at = at.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

type Edit = (prop::sample::Index, prop::sample::Index, prop::sample::Index, u8);

fn edit(text: &mut String, (at, to, piece, kind): Edit) {
    let (at, to) = (boundary(text, at), boundary(text, to));
    let (from, to) = (at.min(to), at.max(to));
    let near = (from..=to.min(from + 12)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(from);
    match kind % 4 {
        0 => text.insert_str(from, PIECES[piece.index(PIECES.len())]),
        1 => text.replace_range(from..near, ""),
        2 => text.replace_range(from..near, PIECES[piece.index(PIECES.len())]),
        _ => {
            let copy = text[from..near].to_owned();
            text.insert_str(to, &copy);
        }
    }
}

/// Configures few cases for everyday runs; `PROPTEST_CASES` raises the number.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_modules_never_panic(
        which in any::<prop::sample::Index>(),
        window in any::<(prop::sample::Index, prop::sample::Index)>(),
        edits in prop::collection::vec(any::<Edit>(), 0..4),
    ) {
        let (_, text) = &CORPUS[which.index(CORPUS.len())];
        let mut text = text.clone();
        for change in edits {
            edit(&mut text, change);
        }
        check(&text);
        let (a, b) = (boundary(&text, window.0), boundary(&text, window.1));
        check(&format!(".version 8.4\n.target sm_80\n{}", &text[a.min(b)..a.max(b)]));
    }

    #[test]
    fn noise_never_panics(text in "\\PC{0,200}", pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        check(&text);
        let pieces: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        check(&format!(".version 8.4\n.target sm_80\n.func f() {{ x {pieces}{text}"));
    }
}
