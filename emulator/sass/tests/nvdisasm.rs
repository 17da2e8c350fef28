//! Comparison with the text of `nvdisasm`, instruction by instruction. See `tests/data/machine/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use sass::{Architecture, DecodeErrorKind, Module, decode};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    let path = root().join("tests/data/machine").join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).expect("data is deflated");
    String::from_utf8(text).expect("data is text")
}

#[test]
fn the_ladder_prints_as_nvdisasm_prints_it() {
    let text = text("ladder.txt.z");
    let mut lines = text.lines();
    let (mut n, mut kernels) = (0, Vec::new().into_iter());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("# ") {
            assert_eq!(kernels.len(), 0, "kernels without a text before {name}");
            let cubin = fs::read(root().join(format!("kernels/cubin/{name}.cubin"))).expect("it is committed");
            kernels = Module::read(&cubin).unwrap_or_else(|error| panic!("{name}: {error}")).kernels.into_iter();
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
    assert!(n > 150_000, "{n}");
}

/// Compares the instructions of an architecture. `least`: numbers of opcodes and of mnemonics with modifiers that are
/// decoded at least; `unknown`: operations of which some forms are not.
#[track_caller]
fn check(architecture: Architecture, least: [usize; 2], unknown: &str) {
    let (mut opcodes, mut mnemonics, mut refused) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    for line in text(&format!("sm_{}.txt.z", architecture.sm())).lines() {
        let mut parts = line.splitn(3, ' ');
        let mut number = || parts.next().and_then(|part| u128::from_str_radix(part, 16).ok()).expect("numbers first");
        let (word, address) = (number(), number() as u32);
        let want = parts.next().expect("then the text");
        let mnemonic = want.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
        match decode(architecture, word, address) {
            Ok(instruction) => {
                opcodes.insert(word & 0xfff);
                mnemonics.insert(mnemonic.to_owned());
                // Bits without a meaning, such as those of a register that an address does not have, may differ.
                let encoded = instruction.encode().and_then(|word| decode(architecture, word, address).ok());
                if encoded.as_ref() != Some(&instruction) {
                    wrong.push(format!("{encoded:?} is encoded for {line}"));
                }
                if instruction.to_string().trim_end() != want {
                    wrong.push(format!("{instruction} for {line}"));
                }
            }
            Err(error) => {
                let name = mnemonic.split('.').next().unwrap_or_default();
                let found = match error.kind {
                    DecodeErrorKind::Unsupported(found) => found,
                    DecodeErrorKind::Form(operation) => operation.name(),
                    DecodeErrorKind::Opcode(_) => name,
                };
                assert_eq!(found, name, "{line}");
                refused.insert(name.to_owned());
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(opcodes.len() >= least[0], "{}", opcodes.len());
    assert!(mnemonics.len() >= least[1], "{}", mnemonics.len());
    assert_eq!(refused.into_iter().collect::<Vec<_>>().join(" "), unknown);
}

#[test]
fn instructions_of_sm_90_print_as_nvdisasm_prints_them() {
    let unknown = "ATOM BMSK CCTL CCTLL F2F F2FP F2I F2IP FRND HFMA2 HMNMX2 I2F I2I I2IP LD MUFU PLOP3 PMTRIG QSPC STG \
                   TEX TLD VABSDIFF4";
    check(Architecture::Sm90, [190, 300], unknown);
}

#[test]
fn instructions_of_older_gpus_print_as_nvdisasm_prints_them() {
    check(Architecture::Sm80, [150, 250], "TEX TLD");
    check(Architecture::Sm75, [150, 250], "TEX TLD");
}
