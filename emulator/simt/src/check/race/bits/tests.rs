use super::*;

#[test]
fn words_cover_exactly_the_units() {
    for (from, to) in [(0, 1), (0, 64), (63, 65), (5, 200), (1000, 1024), (64, 128)] {
        let mut bits = [0; WORDS as usize];
        for (word, mask) in words(from, to) {
            bits[word as usize] |= mask;
        }
        assert_eq!(ones(&bits, u16::MAX).collect::<Vec<_>>(), (from..to).collect::<Vec<_>>());
    }
}

#[test]
fn a_shifted_pattern_is_the_pattern_elsewhere() {
    for from in [0, 1, 63, 64, 100] {
        let mut bits = [0; WORDS as usize];
        shifted(from, &[1 << 63 | 5, 3], |word, units| bits[word as usize] |= units);
        let expected = [0, 2, 63, 64, 65].map(|i| from + i);
        assert_eq!(ones(&bits, u16::MAX).collect::<Vec<_>>(), expected);
    }
}
