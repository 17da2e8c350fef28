//! Held to the text of `nvdisasm`, instruction by instruction. See `tests/data/machine/README.md`.

use std::fs;
use std::path::PathBuf;

use machine::Module;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/machine")
        .join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).expect("data is deflated")
}

fn text(name: &str) -> String {
    String::from_utf8(data(name)).expect("data is text")
}

#[test]
fn the_ladder_prints_as_nvdisasm_prints_it() {
    let text = text("ladder.txt.z");
    let mut lines = text.lines();
    let (mut n, mut kernels) = (0, Vec::new().into_iter());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("# ") {
            assert_eq!(kernels.len(), 0, "kernels without a text before {name}");
            let module = Module::read(&data(&format!("ladder/{name}.z")));
            kernels = module
                .unwrap_or_else(|error| panic!("{name}: {error}"))
                .kernels
                .into_iter();
            continue;
        }
        let kernel = kernels.next().expect("as many kernels as sections");
        assert_eq!(format!(".text.{}", kernel.name), line);
        for instruction in &kernel.instructions {
            let place = format!("{} at {:#06x}", kernel.name, instruction.address);
            assert_eq!(Some(instruction.to_string().trim_end()), lines.next(), "{place}");
        }
        n += kernel.instructions.len();
    }
    assert!(n > 10_000, "{n}");
}
