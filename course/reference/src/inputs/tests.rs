use super::*;

#[test]
fn a_seed_gives_the_same_numbers_again() {
    let take = |seed| elements::<f32>(Data::Reals, seed, 0, 4, 16);
    assert_eq!(take(1), take(1));
    assert_ne!(take(1), take(2));
}

#[test]
fn operands_differ() {
    for data in [Data::Reals, Data::Integers] {
        assert_ne!(elements::<f32>(data, 1, 0, 4, 64), elements::<f32>(data, 1, 1, 4, 64));
    }
}

#[test]
fn integers_are_as_large_as_exact_sums_allow() {
    assert_eq!(largest_integer::<f32>(1), 8);
    assert_eq!(largest_integer::<f32>(1 << 18), 8);
    assert_eq!(largest_integer::<f32>((1 << 18) + 1), 7);
    assert_eq!(largest_integer::<f32>(1 << 24), 1);
    assert_eq!(largest_integer::<E4m3>(256), 8);
    assert_eq!(largest_integer::<E4m3>(1 << 14), 1);
    let all = elements::<f32>(Data::Integers, 1, 0, 64, 4096);
    assert!(all.iter().all(|v| v.fract() == 0.0 && v.abs() <= 8.0));
    assert!(all.contains(&-8.0) && all.contains(&8.0));
}

#[test]
fn the_poison_is_not_a_number_that_arithmetic_makes() {
    assert!(f32::POISON.is_nan() && f32::POISON.is_poison() && !f32::NAN.is_poison());
    assert!(f64::POISON.is_nan() && f64::POISON.is_poison() && !f64::NAN.is_poison());
    assert!(Bf16::POISON.to_f64().is_nan() && Bf16::POISON.is_poison() && !Bf16::NAN.is_poison());
    assert!(!(f32::POISON + 1.0).is_poison(), "arithmetic makes it quiet");
    assert!(!(f64::POISON + 1.0).is_poison(), "arithmetic makes it quiet");
}

#[test]
fn transposing_moves_rows_to_columns() {
    assert_eq!(turn(&[1, 2, 3, 4, 5, 6], 2, 3), [1, 4, 2, 5, 3, 6]);
}
