use super::*;

/// Returns the result of the kernel with some of its barriers, in the emulated GPU's own order.
fn unforced(race: Race) -> anyhow::Result<Vec<f32>> {
    let text = ptx()?;
    let mut n = 0;
    let mut keep = |line: &str| {
        if !line.contains("bar.sync") {
            return true;
        }
        n += 1;
        // The loop is unrolled by two; a remainder handles an odd number of tiles.
        if n % 2 == 1 { race.first } else { race.second }
    };
    let kept: Vec<&str> = text.lines().filter(|line| keep(line)).collect();
    Ok(run(&kept.join("\n"), &Gpu::with_memory(1 << 24))?.0)
}

fn correct_result() -> Vec<f32> {
    let events = replay(&Race { first: true, second: true, leader: 0, lead: 1 }.order());
    result(&events)
}

#[test]
fn the_emulated_gpu_forced_into_an_order_gives_what_the_replay_gives() -> anyhow::Result<()> {
    for race in Race::all() {
        let order = race.order();
        assert_eq!(forced(&order)?, result(&replay(&order)), "{race:?}: {order:?}");
    }
    Ok(())
}

#[test]
fn the_emulated_gpu_left_alone_takes_one_of_the_orders() -> anyhow::Result<()> {
    for race in Race::all().filter(|race| race.lead == ACCESSES && race.leader == 0) {
        let computed = unforced(race)?;
        // Without a barrier, a warp of the emulated GPU runs to its end.
        let order = if race.first || race.second {
            race.order()
        } else {
            [[0; ROUNDS * ACCESSES], [1; ROUNDS * ACCESSES]].concat()
        };
        assert_eq!(computed, result(&replay(&order)), "{race:?}");
    }
    Ok(())
}

#[test]
fn only_both_barriers_make_every_order_right() {
    for race in Race::all() {
        let events = replay(&race.order());
        assert_eq!(events.len(), 2 * ROUNDS * ACCESSES);
        let right_result = result(&events) == correct_result();
        assert_eq!(right_result, events.iter().all(TileAccess::found_own_row), "{race:?}");
        assert!(right_result || !(race.first && race.second), "{race:?}");
    }
    let wrong = |first, second| {
        let its = |race: &Race| race.first == first && race.second == second;
        Race::all().filter(its).filter(|race| result(&replay(&race.order())) != correct_result()).count()
    };
    let wrong = [wrong(true, true), wrong(true, false), wrong(false, true), wrong(false, false)];
    assert!(wrong[0] == 0 && wrong[1..].iter().all(|n| *n > 0), "{wrong:?}");
}
