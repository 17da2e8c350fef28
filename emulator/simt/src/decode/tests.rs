//! Whole modules through decode.

use super::*;

/// Decodes PTX text; variables lie one window apart.
fn decoded(text: &str) -> Result<Program> {
    let module = ptx::parse(text).expect("the test's PTX parses");
    let mut symbols = Symbols::new();
    for (at, variable) in module_variables(&module)?.iter().enumerate() {
        symbols.insert(&variable.name, (at as u64 + 1) << 40);
    }
    decode(&module, &symbols, CpuLevel::Baseline)
}

/// Every kernel that is committed decodes.
#[test]
fn committed_kernels() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/ptx");
    for entry in std::fs::read_dir(folder).expect("kernels are there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let program = decoded(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for kernel in &program.kernels {
            eprintln!(
                "{} {} ops {} lines {} preds",
                kernel.name,
                kernel.ops.len(),
                kernel.n_lines,
                kernel.n_preds
            );
            if std::env::var("SHOW").is_ok_and(|s| s == kernel.name) {
                eprintln!("{kernel}");
            }
        }
    }
}
