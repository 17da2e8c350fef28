use super::*;

#[test]
fn cells_stand_for_their_bytes() {
    let mut cells = CellBits::new(1024, 2);
    cells.set_cells(252, &[0b1011]);
    assert_eq!(cells.ranges(0, 1024, 9), [(252, 260), (264, 268)]);
    assert!(cells.all_cells(256, &[0b101]) && !cells.all_cells(256, &[0b111]));
    assert!(cells.all(252, 8) && !cells.all(252, 9));
    cells.unset(256, 4);
    assert_eq!(cells.ranges(0, 1024, 9), [(252, 256), (264, 268)]);
}

#[test]
fn masks_cross_words() {
    let mut bits = Bits::new(300);
    bits.set(62, 3);
    assert_eq!(bits.mask(60, 32), 0b11100);
    assert_eq!(bits.mask(62, 2), 0b11);
    assert_eq!(bits.mask(64, 32), 1);
}

#[test]
fn cells_are_taken_out_whole() {
    let mut cells = CellBits::new(1024, 2);
    cells.set(0, 16);
    cells.unset_whole(2, 7);
    assert_eq!(cells.mask(0, 16), 0xFF0F);
    cells.unset_whole(9, 2);
    assert_eq!(cells.mask(0, 16), 0xFF0F);
}

#[test]
fn ranges_are_what_was_set() {
    let mut bits = Bits::new(300);
    bits.set(60, 70);
    bits.set(200, 1);
    assert_eq!(bits.ranges(0, 300, 9), [(60, 130), (200, 201)]);
    assert_eq!(bits.ranges(61, 129, 9), [(61, 129)]);
    assert!(bits.all(60, 70) && !bits.all(59, 2) && !bits.all(129, 2));
    bits.unset(64, 2);
    assert_eq!(bits.ranges(0, 300, 2), [(60, 64), (66, 130)]);
}

#[test]
fn words_cover_exactly_the_range() {
    for (from, to) in [(0, 1), (0, 64), (63, 65), (5, 200), (1000, 1024), (64, 128)] {
        let mut bits = Bits::new(1024);
        each_word(from, to - from, |word, mask| bits.words[word] |= mask);
        assert_eq!(bits.ranges(0, 1024, 9), [(from as u64, to as u64)]);
    }
}

#[test]
fn a_shifted_pattern_is_the_pattern_elsewhere() {
    for from in [0, 1, 63, 64, 100] {
        let mut bits = Bits::new(1024);
        shifted(from, &[1 << 63 | 5, 3], |word, mask| bits.words[word] |= mask);
        let expected = [(0, 1), (2, 3), (63, 66)].map(|(start, end)| (from as u64 + start, from as u64 + end));
        assert_eq!(bits.ranges(0, 1024, 9), expected);
    }
}
