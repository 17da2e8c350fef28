use super::*;
use crate::Bf16;

/// Sums can be compared only for equal inputs: if a new version of `rand` draws others, the record must be renewed.
#[test]
fn inputs_are_those_of_the_record() {
    let sum = [
        sum_of(&elements::<f32>(Data::Reals, 1, 0, 65, 1000)),
        sum_of(&elements::<f64>(Data::Reals, 1, 0, 65, 1000)),
        sum_of(&elements::<Bf16>(Data::Reals, 1, 1, 65, 1000)),
    ];
    assert_eq!(sum.each_ref().map(|sum| records::sums::short(sum)), ["47d9c8a7d1c9", "fccec91b13ce", "b9491a4035ac"]);
}

#[test]
fn the_sum_is_of_the_bytes_of_c() {
    // printf '\x00\x00\x80\x3f\x00\x00\x00\x80' | sha256sum
    let sum = sum_of(&[1.0f32, -0.0]);
    assert_eq!(records::sums::short(&sum), "0cd40d287b36");
    assert_ne!(sum, sum_of(&[1.0f32, 0.0]));
}
