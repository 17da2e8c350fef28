use super::*;

#[track_caller]
fn check(addresses: Addresses, bytes: u32, direction: Direction) {
    let access = SharedAccess { addresses, bytes, direction };
    assert_eq!(access.wavefronts().len() as u32, access.cost().wavefronts);
}

#[test]
fn as_many_rows_are_drawn_as_the_rule_counts() {
    for bytes in [4, 8, 16] {
        for stride in [0, 1, 2, 3, 8, 17, 32, 33] {
            for direction in [Direction::Load, Direction::Store] {
                let at = |element: usize| element as u64 * stride * u64::from(bytes);
                check(std::array::from_fn(|lane| Some(at(lane))), bytes, direction);
                let some = std::array::from_fn(|lane| (lane % 3 != 0).then_some(at(lane / 4)));
                check(some, bytes, direction);
            }
        }
    }
}

#[test]
fn rows_of_another_length_keep_the_column() {
    let access = SharedAccess {
        addresses: std::array::from_fn(|lane| Some(lane as u64 * 132 * 4 + 8)),
        bytes: 4,
        direction: Direction::Store,
    };
    assert_eq!(access.with_rows(132 * 4, 128 * 4).addresses[3], Some(3 * 128 * 4 + 8));
}
