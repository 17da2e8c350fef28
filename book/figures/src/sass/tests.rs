use super::*;

/// Checks that no more than `most` of the instructions that each warp executed are outside of the loop.
fn check(name: &str, k: usize, [grid, block]: [[u32; 3]; 2], executed: f64, most: f64) -> anyhow::Result<()> {
    let code = Code::load(name)?;
    let pass = code.pass()?;
    let passes = k * code.elements() / multiply_adds(&pass);
    let blocks: u32 = grid.into_iter().product();
    let each = executed / f64::from(blocks * block[0] / 32);
    let outside = each - (passes * pass.len()) as f64;
    assert!((0.0..most).contains(&outside), "{name}: {outside} of {each} outside of the loop");
    Ok(())
}

#[test]
fn a_pass_is_as_long_as_the_hardware_counts() -> anyhow::Result<()> {
    let path = machine::root().join("book/data/h200-counters.json");
    let record = records::profile::ProfileRecord::load(&path)?;
    for name in KERNELS.split(' ') {
        let shape = Shape::square(1024);
        let found = record.profiles.iter().find(|p| p.kernel == name && p.shape == shape);
        let profile = found.with_context(|| format!("{name} was profiled"))?;
        let executed = profile.metrics["smsp__inst_executed.sum"] as f64;
        check(name, 1024, [profile.grid, profile.block], executed, 600.0)?;
    }
    Ok(())
}

#[test]
fn loops_of_v11_are_those_that_a_profiler_counted() -> anyhow::Result<()> {
    let path = machine::root().join("book/data/h200-busiest.json");
    let record = records::busiest::BusiestRecord::load(&path)?;
    for name in V11 {
        let found = record.launches.iter().find(|launch| launch.kernel == name);
        let launch = found.with_context(|| format!("{name} was profiled"))?;
        let executed = launch.metrics["smsp__inst_executed.sum"];
        check(name, launch.shape.k, [launch.grid, launch.block], executed, 1000.0)?;
    }
    Ok(())
}

#[test]
fn kept_registers_are_not_read_again() {
    // FFMA R0, R2, R5.reuse, R4; FFMA R1, R6, R5, R7
    let words = [0x080fe20000000004_0000000502007223_u128, 0x000fe20000000007_0000000506017223];
    let mut reuse = Reuse::default();
    let banks = words.map(|word| {
        let multiply_add = ::sass::decode(::sass::Architecture::Sm90, word, 0).expect("a multiply-add");
        by_bank(&reuse.next(&multiply_add))
    });
    assert_eq!(banks, [[2, 1], [1, 1]]);
}
