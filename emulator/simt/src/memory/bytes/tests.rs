use super::*;

#[test]
fn marks_exactly_what_was_written() {
    let bytes = Bytes::zeroed(300).expect("300 bytes can be had");
    bytes.write(60, &[1; 10]);
    assert!(bytes.is_written(60, 10));
    assert!(!bytes.is_written(59, 2));
    assert!(!bytes.is_written(69, 2));
    assert_eq!(bytes.ranges_written(69, 300, 9), [(69, 70)]);
}

#[test]
fn a_write_of_everything_is_trusted() {
    let bytes = Bytes::zeroed(300).expect("300 bytes can be had");
    assert!(bytes.fill(0, &[1, 2, 3, 4], 75));
    assert!(bytes.trusted());
}

#[test]
fn copies_carry_what_was_unwritten() {
    let a = Bytes::zeroed(8).expect("8 bytes can be had");
    let b = Bytes::zeroed(8).expect("8 bytes can be had");
    a.write(2, &[7, 7]);
    assert!(b.copy_from(0, &a, 0, 4));
    assert_eq!((b.is_written(0, 2), b.is_written(2, 2)), (false, true));
}

#[test]
fn copies_of_what_was_unwritten_undo_a_write() {
    let a = Bytes::zeroed(200).expect("200 bytes can be had");
    let b = Bytes::zeroed(200).expect("200 bytes can be had");
    a.write(70, &[7, 7]);
    assert!(b.fill(0, &[1], 200) && b.trusted());
    assert!(b.copy_from(66, &a, 68, 4));
    assert_eq!(b.ranges_written(0, 200, 9), [(0, 66), (68, 200)]);
    assert!(!b.trusted() && b.was_unmarked(66) && !b.was_unmarked(68));
    assert_eq!(b.written_mask(65, 5), 0b11001);
    b.mark(66, 1);
    assert_eq!(b.ranges_written(0, 200, 9), [(0, 67), (68, 200)]);
    b.write(0, &[0; 200]);
    assert!(b.trusted() && !b.was_unmarked(67));
}

#[test]
fn what_nothing_wrote_is_not_a_copy() {
    let a = Bytes::zeroed(8).expect("8 bytes can be had");
    let b = Bytes::zeroed(8).expect("8 bytes can be had");
    b.write(0, &[1; 4]);
    assert!(b.copy_from(2, &a, 0, 4));
    assert_eq!((b.ranges_written(0, 8, 9), b.was_unmarked(3)), (vec![(0, 2)], true));
}

#[test]
fn out_of_range_is_refused() {
    let bytes = Bytes::zeroed(8).expect("8 bytes can be had");
    assert!(!bytes.read(usize::MAX, &mut [0; 2]));
    assert!(!bytes.write(7, &[0; 2]));
    assert!(!bytes.fill(0, &[0; 4], usize::MAX));
}

/// Passes as an ordinary test; Miri finds data races in it.
#[test]
fn threads_copy_at_the_same_time() {
    let bytes = Bytes::zeroed(64).expect("64 bytes can be had");
    let other = Bytes::zeroed(64).expect("64 bytes can be had");
    std::thread::scope(|scope| {
        for value in 1..4u8 {
            let (bytes, other) = (&bytes, &other);
            scope.spawn(move || {
                let mut seen = [0; 32];
                for _ in 0..4 {
                    assert!(bytes.write(8, &[value; 32]));
                    assert!(bytes.fill(8, &[value], 32));
                    assert!(other.copy_from(8, bytes, 8, 32));
                    assert!(other.read(8, &mut seen));
                    assert!(seen.iter().all(|byte| *byte < 4));
                    assert!(other.is_written(8, 32));
                }
            });
        }
    });
    assert!(!bytes.is_written(0, 9) && bytes.is_written(8, 32));
}
