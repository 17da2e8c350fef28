//! What compute-sanitizer said of the kernels of the ladder on a real GPU is on record, and it found nothing.

use std::path::Path;

use catalog::STEPS;
use records::sanitizer::{SanitizerRecord, TOOLS, Verdict};

fn verdicts() -> Vec<Verdict> {
    let folder = tests::root().join("book/data");
    let files = catalog::files::files_ending_with(&folder, "-sanitizer.json").expect("book/data is there");
    let load = |path: &Path| SanitizerRecord::load(path).unwrap_or_else(|error| panic!("{error}"));
    files.iter().flat_map(|file| load(file).verdicts).collect()
}

#[test]
fn every_kernel_was_found_clean_by_every_tool() {
    let verdicts = verdicts();
    for step in STEPS {
        for kernel in step.kernels.iter().filter(|kernel| kernel.source.is_some()) {
            for tool in TOOLS {
                let of = |kernels: &[String]| kernels.iter().any(|name| name == kernel.name);
                let said = verdicts.iter().find(|said| said.tool == tool && of(&said.kernels));
                assert!(
                    said.is_some_and(|said| said.is_clean() && said.n_shapes >= said.kernels.len()),
                    "{} under {tool}: {said:?}; on a machine with a GPU: cargo xtask sanitize {} --save",
                    kernel.name,
                    step.id
                );
            }
        }
    }
}
