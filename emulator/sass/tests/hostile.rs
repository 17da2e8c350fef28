//! Damaged cubins and random words give an error or a module, never a panic.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use sass::{Architecture, Module, decode};

/// Cubins of the ladder.
static CUBINS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernels/cubin");
    let entries = fs::read_dir(folder).expect("cubins are committed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let read = |path| fs::read(path).expect("a file can be read");
    paths.into_iter().map(read).collect()
});

/// Reads a cubin, and prints the module.
fn survives(cubin: &[u8]) {
    if let Ok(module) = Module::read(cubin) {
        for kernel in &module.kernels {
            assert!(kernel.instructions.len() * 16 <= cubin.len());
            for instruction in &kernel.instructions {
                assert!(!instruction.to_string().is_empty());
                let _ = (kernel.line(instruction.address), instruction.encode());
            }
        }
    }
}

fn refused(cubin: &[u8]) -> String {
    Module::read(cubin).err().map_or("read".to_owned(), |error| error.to_string())
}

/// Returns the largest cubin with some bytes changed: offsets and new bytes.
#[track_caller]
fn changed(changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut cubin = whole().clone();
    for (at, bytes) in changes {
        cubin[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    cubin
}

/// Returns the largest cubin that is read.
fn whole() -> &'static Vec<u8> {
    static WHOLE: LazyLock<&Vec<u8>> = LazyLock::new(|| {
        let read = CUBINS.iter().filter(|cubin| Module::read(cubin).is_ok());
        read.max_by_key(|cubin| cubin.len()).expect("there is one")
    });
    *WHOLE
}

/// Returns the offset of the first section of code, from the table of sections.
fn code(cubin: &[u8]) -> usize {
    let module = Module::read(cubin).expect("it is whole");
    let first = module.kernels[0].instructions.iter().take(3).map(ToString::to_string).collect::<Vec<_>>();
    let starts = (0..cubin.len() - 48).step_by(16).find(|&at| {
        let texts = (0..3).map(|i| {
            let bytes = cubin[at + i * 16..][..16].try_into().expect("16 bytes");
            decode(Architecture::Sm90, u128::from_le_bytes(bytes), i as u32 * 16)
                .map_or(String::new(), |i| i.to_string())
        });
        texts.eq(first.iter().cloned())
    });
    starts.expect("the code is in the file")
}

#[test]
fn what_is_no_cubin_is_refused() {
    assert_eq!(refused(b""), "file: Invalid ELF header size or alignment");
    assert_eq!(refused(b"\x7fELF"), "file: Invalid ELF header size or alignment");
    assert_eq!(refused(&changed(&[(18, &[62, 0])])), "file: not for a GPU of NVIDIA");
    assert_eq!(
        refused(&changed(&[(48, &[120])])),
        "file: code for sm_120; only that of sm_75, sm_80, sm_86, sm_87, sm_89 and sm_90 is supported"
    );
}

#[test]
fn an_unknown_opcode_is_refused_with_its_address() {
    let at = code(whole()) + 0x20;
    let error = refused(&changed(&[(at, &[0xff, 0xff])]));
    assert!(error.contains("unknown opcode 0xfff at 0x0020"), "{error}");
}

#[test]
fn a_branch_out_of_the_section_is_refused() {
    let at = code(whole()) + 0x20;
    let branch = 0x000fc0000383ffff_7ffffff000007947_u128;
    let error = refused(&changed(&[(at, &branch.to_le_bytes())]));
    assert!(error.contains("`BRA` at 0x0020 goes to"), "{error}");
}

#[test]
fn sections_longer_than_the_file_are_refused() {
    let cubin = whole();
    let table = usize::try_from(u64::from_le_bytes(cubin[0x28..0x30].try_into().expect("8 bytes"))).expect("it fits");
    for section in 1..10 {
        for size in [u64::MAX, 1 << 40, cubin.len() as u64] {
            let error = refused(&changed(&[(table + section * 64 + 32, &size.to_le_bytes())]));
            assert!(error.contains("Invalid ELF"), "{error}");
        }
    }
}

#[test]
fn a_cubin_that_is_cut_off_is_refused() {
    let cubin = whole();
    for end in (0..cubin.len()).step_by(997) {
        survives(&cubin[..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_cubins_never_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        near in prop::option::of((0_usize..4096, any::<u64>())),
    ) {
        let mut cubin = CUBINS[which.index(CUBINS.len())].clone();
        for (at, byte) in changes {
            let at = at.index(cubin.len());
            cubin[at] = byte;
        }
        // The tables of sections and segments are at the end.
        if let Some((back, value)) = near {
            let at = cubin.len().saturating_sub(back + 8);
            cubin[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        survives(&cubin);
    }

    #[test]
    fn any_word_is_read_or_refused(word: u128, row in any::<prop::sample::Index>(), address: u32) {
        let rows = sass::table::rows();
        let opcode = u128::from(rows[row.index(rows.len())].opcode());
        for word in [word, word & !0xfff | opcode, word & (0xffff << 110 | 0xffff) & !0xfff | opcode] {
            for architecture in Architecture::ALL {
                match decode(architecture, word, address) {
                    Ok(instruction) => prop_assert!(!instruction.to_string().is_empty()),
                    Err(error) => prop_assert!(error.to_string().contains(" at 0x")),
                }
            }
        }
    }
}
