use super::*;
use crate::tests::{check, shape};

#[test]
fn every_instruction_set_is_right_on_one_thread_and_on_three() {
    for lanes in Lanes::available() {
        for n_threads in [1, 3] {
            for shape in [shape(1, 1, 1), shape(13, 33, 257), shape(389, 251, 101), shape(581, 16, 7)] {
                check(shape, |shape, a, b, c| multiply_with(lanes, n_threads, shape, a, b, c));
            }
        }
    }
}

#[test]
fn packing_turns_rows_and_fills_up() {
    // A = | 1 2 |, two rows of a panel of three.
    //     | 3 4 |
    let mut panels = vec![f32::NAN; 7];
    pack_rows(2, &[1.0, 2.0, 3.0, 4.0], 3, &mut panels);
    assert_eq!(panels, [1.0, 3.0, 0.0, 2.0, 4.0, 0.0]);
    // The last column of B = A, in a panel of three.
    let panel = pack_columns(shape(1, 2, 2), &[1.0, 2.0, 3.0, 4.0], 1, 3);
    assert_eq!(panel, [2.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
}
