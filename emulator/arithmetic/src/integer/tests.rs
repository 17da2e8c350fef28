use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn quotients_are_exact(a in any::<u32>(), b in any::<u32>(), up in 0u32..32, near in 0u32..3) {
        let b = (b >> up).max(1);
        // Multiples of the divisor and their neighbours are the hard ones.
        for a in [a, (a / b * b).wrapping_add(near).wrapping_sub(1)] {
            prop_assert_eq!(div_u32(a, b), a / b);
            prop_assert_eq!(rem_u32(a, b), a % b);
            let (a, b) = (a as i32, b as i32);
            prop_assert_eq!(div_i32(a, b), a.wrapping_div(b));
            prop_assert_eq!(rem_i32(a, b), a.wrapping_rem(b));
        }
    }
}
