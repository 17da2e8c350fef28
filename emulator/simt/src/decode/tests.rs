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

/// Every kernel that is committed decodes. `SHOW=name` prints one.
#[test]
fn committed_kernels() {
    let show = std::env::var("SHOW").unwrap_or_default();
    let mut wrong = Vec::new();
    for folder in ["kernels/ptx", "tests/data/corpus", "tests/data/gallery"] {
        let folder = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).expect("kernels are there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|e| e != "ptx") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            match decoded(&text) {
                Err(e) => wrong.push(format!("{}: {e}", path.display())),
                Ok(program) => {
                    for kernel in &program.kernels {
                        let text = kernel.to_string();
                        assert!(text.contains(&kernel.name));
                        if show == kernel.name {
                            eprintln!("{text}");
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
