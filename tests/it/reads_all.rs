//! Everything that is committed here reads and decodes: each instruction form, the corpus, the diagnosed kernels.

use arithmetic::cpu_level;
use catalog::files::files_ending_with;
use decode::{Symbols, decode, module_variables};
use tests::conformance::{fixtures, missing, module};
use tests::{fixture, read, root};

fn complaint(text: &str) -> Option<String> {
    let module = match ptx::parse(text) {
        Ok(module) => module,
        Err(error) => return Some(error.to_string()),
    };
    if let Err(error) = ptx::table::check(&module) {
        return Some(error.to_string());
    }
    let mut symbols = Symbols::new();
    match module_variables(&module, &Default::default()) {
        Ok(variables) => variables.iter().enumerate().for_each(|(k, v)| symbols.insert(&v.name, (k as u64 + 1) << 40)),
        Err(error) => return Some(error.to_string()),
    }
    decode(&module, &symbols, cpu_level(), &Default::default()).err().map(|error| error.to_string())
}

#[test]
fn every_form_decodes() {
    let bad: Vec<String> = fixtures()
        .iter()
        .filter_map(|fixture| Some(format!("{}: {}", fixture.name, complaint(&module(&[fixture]))?)))
        .collect();
    assert!(bad.is_empty(), "{} forms do not decode:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn every_row_of_the_table_has_a_form() {
    let rows: Vec<String> = missing().iter().map(|row| format!("{}: {}", row.section, row.pattern)).collect();
    assert!(rows.is_empty(), "no fixture for:\n{}", rows.join("\n"));
    assert!(fixtures().len() >= 400);
}

#[test]
fn committed_kernels_decode() {
    let (mut n, mut bad) = (0, Vec::new());
    for (one, ptx) in fixture::folder("tests/fixtures/diagnosed") {
        n += 1;
        bad.extend(complaint(&ptx).map(|what| format!("{}: {what}", one.name)));
    }
    for folder in ["kernels/ptx", "tests/data/corpus"] {
        for path in files_ending_with(&root().join(folder), ".ptx").expect("a folder of kernels") {
            n += 1;
            bad.extend(complaint(&read(&path)).map(|what| format!("{}: {what}", path.display())));
        }
    }
    assert!(n > 100, "only {n} kernels found");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
