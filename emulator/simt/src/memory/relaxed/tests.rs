use super::*;

#[test]
fn copies_of_any_alignment() {
    let source: Vec<u8> = (0..64).collect();
    for from in 0..16 {
        for n in 0..40 {
            let (mut out, mut back) = (vec![0; n], vec![0u8; 64]);
            // SAFETY: `from + n` is at most 56.
            unsafe {
                copy_out(source.as_ptr().add(from), &mut out);
                copy_in(back.as_mut_ptr().add(from), &out);
            }
            assert_eq!(out, source[from..from + n]);
            assert_eq!(back[from..from + n], out);
            assert!(back[..from].iter().chain(&back[from + n..]).all(|byte| *byte == 0));
        }
    }
}

#[test]
fn overlapping_copies_in_both_directions() {
    let n = 9000;
    for (from, to) in [(0, 5), (5, 0), (0, 5000), (5000, 0), (0, 8), (8, 0)] {
        let mut bytes: Vec<u8> = (0..n + 5000).map(|i| (i * 7 % 251) as u8).collect();
        let mut expected = bytes.clone();
        expected.copy_within(from..from + n, to);
        let start = bytes.as_mut_ptr();
        // SAFETY: both ranges lie in `bytes`.
        unsafe { copy(start.add(from), start.add(to), n) };
        assert!(bytes == expected);
    }
}
