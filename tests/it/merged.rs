//! "As merged" against machine code: what `decode::passes::merge` makes of accesses to shared memory is what ptxas
//! made.
//!
//! `tests/data/sass` holds counts from disassembled kernels. They are static counts, so of whole programs only kernels
//! whose loops ptxas leaves as they are can be compared.

use std::path::Path;

use tests::gpu::Gpu;
use tests::machine_code::{HEADER, Widths, kernel, lines, merged};
use tests::{fixture, read};

fn count(text: &str) -> Widths {
    let module = Gpu::default().load(text).expect("kernels that load");
    let kernels = module.kernels().iter().map(|k| merged(k.kernel()));
    kernels.fold(Widths::default(), |sum, one| std::array::from_fn(|at| sum[at] + one[at]))
}

#[test]
fn loads_of_programs_merge_as_ptxas_merges_them() {
    let table = read("tests/data/sass/shared_loads.txt");
    let diagnosed = fixture::folder("tests/fixtures/diagnosed");
    let mut n = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let expected: Vec<usize> = words[2..].iter().filter_map(|w| w.parse().ok()).collect();
        let file = Path::new(words[0]);
        let text = match diagnosed.iter().find(|(one, _)| one.path == file.with_extension("cu")) {
            Some((_, ptx)) => ptx.clone(),
            None => read(file),
        };
        assert_eq!(count(&text)[..3], expected, "{} on {}", words[0], words[1]);
        n += 1;
    }
    assert!(n >= 30);
}

#[test]
fn patterns_merge_as_ptxas_merges_them() {
    let table = read("tests/data/sass/shared_patterns.txt");
    let mut wrong = Vec::new();
    let mut n = 0;
    for (expected, pattern) in lines(&table) {
        let expected = expected.expect("counts");
        let ours = count(&format!("{HEADER}{}", kernel("k", pattern)));
        if ours != expected {
            wrong.push(format!("ptxas {expected:?}, here {ours:?}: {pattern}"));
        }
        n += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n >= 200);
}
