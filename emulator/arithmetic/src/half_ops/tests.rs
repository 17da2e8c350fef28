use super::super::soft::{self, BF16, F16 as F16_FORMAT, Round};
use super::*;
use proptest::prelude::*;

fn soft(bits: Option<u64>) -> u16 {
    bits.map_or(0x7fff, |bits| bits as u16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn one_rounding(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
        let (x, y, z) = (a as u64, b as u64, c as u64);
        let n = Round::Nearest;
        prop_assert_eq!(add::<F16>(0, a, b), soft(soft::add(x, y, F16_FORMAT, n)));
        prop_assert_eq!(sub::<F16>(0, a, b), soft(soft::add(x, y ^ 0x8000, F16_FORMAT, n)));
        prop_assert_eq!(mul::<F16>(0, a, b), soft(soft::mul(x, y, F16_FORMAT, n)));
        prop_assert_eq!(fma::<F16>(0, a, b, c), soft(soft::fma(x, y, z, F16_FORMAT, n)));
        prop_assert_eq!(add::<Bf16>(0, a, b), soft(soft::add(x, y, BF16, n)));
        prop_assert_eq!(sub::<Bf16>(0, a, b), soft(soft::add(x, y ^ 0x8000, BF16, n)));
        prop_assert_eq!(mul::<Bf16>(0, a, b), soft(soft::mul(x, y, BF16, n)));
        prop_assert_eq!(fma::<Bf16>(0, a, b, c), soft(soft::fma(x, y, z, BF16, n)));
    }
}
