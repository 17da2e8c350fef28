use super::*;

#[test]
fn other_numbers_are_nothing() {
    let table: Table<u8> = Table::new(ObjectKind::Event);
    for number in [
        0,
        1,
        2,
        0x7fff_0000_1234,
        usize::MAX,
        (ObjectKind::Event as usize) << KIND_SHIFT,
        ((ObjectKind::Event as usize) << KIND_SHIFT) + 8,
    ] {
        assert_eq!(table.get(number), None);
        assert!(!table.was_given(number));
    }
}

#[test]
fn handles_look_like_addresses_of_a_program() {
    for kind in [ObjectKind::Context, ObjectKind::Stream, ObjectKind::Link] {
        let table = Table::new(kind);
        for _ in 0..3 {
            let (handle, _) = table.insert_with(|_| ());
            assert!(handle < 1 << 47 && handle.is_multiple_of(16), "{handle:#x}");
            assert!(Table::<()>::new(ObjectKind::Event).get(handle).is_none());
        }
    }
}
