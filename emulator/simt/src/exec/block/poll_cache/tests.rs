use super::*;

#[test]
fn a_change_is_noticed() {
    let mut value = 5u32;
    let at = (&raw mut value).cast::<u8>();
    let mut seen = PollCache::default();
    assert!(seen.changed());
    // SAFETY: the place is there until the end of the test.
    unsafe {
        seen.note(at, 4);
        assert!(!seen.changed());
        relaxed::store(at, 4, 6);
        assert!(seen.changed());
        seen.note(at, 4);
    }
    assert!(!seen.changed());
}
