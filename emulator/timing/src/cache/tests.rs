use super::*;

#[test]
fn the_line_that_was_not_used_longest_goes() {
    let mut cache = Cache::new(2 * 128);
    cache.fill(0, 5);
    cache.fill(4, 6);
    assert_eq!(cache.find(0), Some(5));
    assert_eq!(cache.find(1), None);
    cache.fill(8, 7);
    assert_eq!([cache.find(0), cache.find(4), cache.find(8)], [Some(5), None, Some(7)]);
}

/// Local arrays that 32 and 64 warps of an H200's SM load round after round (`tests/data/README.md`).
#[test]
fn local_memory_beyond_l1_hits_as_often_as_measured() {
    let first = trace::LOCAL / 32;
    for (lines, range) in [(60, 0.95..1.01), (124, 0.17..0.26), (248, 0.01..0.04)] {
        let mut cache = Local::new(62 * 128, 1);
        let mut hits = 0;
        for round in 0..101 {
            for sector in (0..lines).map(|line| first + 4 * line) {
                match cache.find(sector) {
                    Some(_) if round > 0 => hits += 1,
                    Some(_) => {}
                    None => cache.fill(sector, 0),
                }
            }
        }
        let rate = f64::from(hits) / (100 * lines) as f64;
        assert!(range.contains(&rate), "{lines} lines: {rate}");
    }
}
