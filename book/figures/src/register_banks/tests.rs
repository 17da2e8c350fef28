use super::*;

#[test]
fn the_runs_cost_what_is_usual_in_their_loops() -> anyhow::Result<()> {
    for (kernel, name, first) in LADDER {
        let code = Code::load(kernel)?;
        let mut reuse = Reuse::default();
        let (mut n, mut clocks) = (0, 0);
        for instruction in code.pass()? {
            let banks = by_bank(&reuse.next(instruction));
            if instruction.operation == Operation::Ffma {
                n += 1;
                clocks += banks[0].max(banks[1]).max(1);
            }
        }
        let usual = LENGTH as f64 * clocks as f64 / n as f64;
        let shown: usize = run(kernel, first)?.iter().map(Multiply::clocks).sum();
        assert!((usual - shown as f64).abs() < 0.75, "{name}: {shown} clocks, usual are {usual:.1}");
    }
    Ok(())
}
