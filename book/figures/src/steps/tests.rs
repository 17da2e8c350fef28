use catalog::Shape;
use simt::memory::rules;

use super::*;

/// Totals over the warps of a grid of one block equal the counters of the launch.
#[test]
fn steps_add_up_to_the_counters_of_the_launch() -> anyhow::Result<()> {
    for subject in subjects()? {
        let (warps, order) = subject.follow(|followed| Ok((followed.warps.clone(), followed.order.clone())))?;
        let [m, n, k] = subject.shape;
        let counted = machine::counters(&subject.name, Shape { m, n, k })?;
        let steps = || warps.iter().flatten();
        let cost = |shared: bool, direction: rules::Direction| -> u64 {
            let reached = steps().filter_map(PageStep::reach);
            let is_own = reached.filter(|r| (r.array > 2) == shared && r.direction() == direction);
            is_own.map(|r| u64::from(r.costs()[0])).sum()
        };
        use rules::Direction::{Load, Store};
        let fmas: u64 = steps().map(PageStep::fmas).sum();
        let sums = [
            (cost(false, Load), counted.global_load_sectors),
            (cost(false, Store), counted.global_store_sectors),
            (cost(true, Load), counted.shared_load_wavefronts),
            (cost(true, Store), counted.shared_store_wavefronts),
            (fmas, counted.fmas + counted.tensor_products),
        ];
        for (i, (block, launch)) in sums.into_iter().enumerate() {
            assert_eq!(block, launch, "{}: sum {i}", subject.label);
        }
        assert_eq!(order.len(), steps().count(), "{}", subject.label);
    }
    Ok(())
}

/// Maximum that fits in a picture of a page.
#[test]
fn no_access_takes_more_wavefronts_than_a_page_draws() -> anyhow::Result<()> {
    for subject in subjects()? {
        for step in subject.follow(|followed| Ok(followed.warps.concat()))? {
            let shared = step.reach().filter(|r| r.array > 2);
            assert!(shared.is_none_or(|r| r.costs()[0] <= 8), "{}", step.text);
        }
    }
    Ok(())
}
