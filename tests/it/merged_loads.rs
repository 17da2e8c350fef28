//! "As merged" against machine code: what `decode::merge` says of loads from shared memory is what ptxas made.
//!
//! `tests/data/sass/shared_loads.txt` holds counts from disassembled kernels. They are static counts, so only
//! kernels whose loops ptxas leaves as they are can be compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use simt::program::{Kernel, MemSpace, OpKind};
use tests::gpu::Gpu;

/// Shared loads of up to 4, of 8 and of 16 bytes per lane, neighbours merged.
fn merged(kernel: &Kernel) -> [usize; 3] {
    let mut counts = [0; 3];
    let mut leaders = BTreeSet::new();
    for op in kernel.ops.iter().filter(|op| op.first) {
        let OpKind::Load(access) = &op.kind else { continue };
        if access.space != MemSpace::Shared {
            continue;
        }
        let bytes = match kernel.instrs[op.instr as usize].merge {
            Some(group) if !leaders.insert(group.leader) => continue,
            Some(group) => group.bytes,
            None => access.element * access.n,
        };
        counts[match bytes {
            16 => 2,
            8 => 1,
            _ => 0,
        }] += 1;
    }
    counts
}

#[test]
fn loads_merge_as_ptxas_merges_them() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(tests.join("data/sass/shared_loads.txt")).expect("the counts");
    let mut n = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let expected: Vec<usize> = words[2..].iter().filter_map(|w| w.parse().ok()).collect();
        let text = fs::read_to_string(tests.join("..").join(words[0])).expect("a kernel");
        let module = Gpu::default().load(&text).expect("a kernel that loads");
        let ours = module
            .kernels()
            .iter()
            .map(|k| merged(k.kernel()))
            .fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
        assert_eq!(ours.as_slice(), expected, "{} on {}", words[0], words[1]);
        n += 1;
    }
    assert!(n >= 30);
}
