use proptest::prelude::*;

use super::*;

fn learnt(addresses: &Addresses, bytes: u32, direction: rules::Direction) -> (Memo<'static>, u64) {
    let mask = LaneMask::ALL.filter(|lane| addresses[lane].is_some());
    let plain = addresses.map(|a| a.unwrap_or(u64::MAX));
    let mut memo = Memo::new(bytes, direction, Merge::Alone);
    assert!(memo.learn(&plain, mask, 1, true));
    (memo, plain[mask.first()])
}

fn some_addresses() -> impl Strategy<Value = (Addresses, u32)> {
    let lanes = proptest::collection::vec(proptest::option::weighted(0.8, 0u64..600), 32);
    (lanes, 0u32..5, 0u64..1 << 45).prop_map(|(lanes, log, base)| {
        let bytes = 1 << log;
        let mut addresses = [None; 32];
        for (to, from) in addresses.iter_mut().zip(&lanes) {
            *to = from.map(|word| (base + word) << log);
        }
        addresses[5] = addresses[5].or(Some(base << log));
        (addresses, bytes)
    })
}

proptest! {
    #[test]
    fn a_memo_counts_by_the_rules((addresses, bytes) in some_addresses(), loads: bool, shift in 0u64..64) {
        let direction = if loads { rules::Direction::Load } else { rules::Direction::Store };
        let (mut memo, base) = learnt(&addresses, bytes, direction);
        // The pattern again, somewhere else.
        let shift = shift * u64::from(bytes);
        let shifted = addresses.map(|a| a.map(|a| a + shift));
        memo.count_shared(base + shift);
        memo.count_global(base + shift);
        prop_assert_eq!(memo.tally.sectors, u64::from(rules::sectors(&shifted, bytes)));
        prop_assert_eq!(memo.tally.l1_passes, u64::from(rules::l1_passes(&shifted, bytes)));
        // And a step further, along the same lines or into others.
        let further = shifted.map(|a| a.map(|a| a + u64::from(bytes)));
        memo.count_global(base + shift + u64::from(bytes));
        let both = rules::l1_passes(&shifted, bytes) + rules::l1_passes(&further, bytes);
        prop_assert_eq!(memo.tally.l1_passes, u64::from(both));
        let cost = rules::shared_cost(&shifted, bytes, direction);
        prop_assert_eq!(memo.tally.wavefronts, u64::from(cost.wavefronts));
        prop_assert_eq!(memo.tally.ideal, u64::from(cost.ideal));
    }

    #[test]
    fn runs_cover_what_lanes_touch((addresses, bytes) in some_addresses()) {
        let (memo, base) = learnt(&addresses, bytes, rules::Direction::Load);
        let mut touched: Vec<u64> =
            addresses.iter().flatten().flat_map(|a| *a..*a + u64::from(bytes)).collect();
        touched.sort_unstable();
        let n = touched.len();
        touched.dedup();
        let at = |r: &ByteRun| base.wrapping_add(i64::from(r.start) as u64);
        let covered: Vec<u64> = memo.runs().iter().flat_map(|r| at(r)..at(r) + u64::from(r.bytes)).collect();
        prop_assert_eq!(memo.overlapping, n != touched.len());
        let lanes: Vec<usize> = memo.mask.iter().collect();
        let repeats = |at: &usize| *at > 0 && addresses[lanes[*at]] == addresses[lanes[*at - 1]];
        let distinct = (0..lanes.len()).filter(|at| !repeats(at)).fold(LaneMask::EMPTY, |all, at| all | LaneMask::of(lanes[at]));
        prop_assert_eq!(memo.distinct, distinct);
        prop_assert_eq!(covered, touched);
    }
}
