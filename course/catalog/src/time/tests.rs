use super::*;

#[test]
fn dates_are_those_of_the_calendar() {
    assert_eq!(utc(0), "1970-01-01T00:00:00Z");
    assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
    assert_eq!(utc(1_795_300_812), "2026-11-21T22:40:12Z");
}

#[test]
fn what_is_written_can_be_read() {
    for time in [0, 951_782_400, 951_868_799, 1_795_300_812, 4_102_444_800] {
        assert_eq!(seconds(&utc(time)), Some(time));
    }
    assert_eq!(seconds("yesterday"), None);
    assert_eq!(seconds("1970-01-00T00:00:00Z"), None);
}
