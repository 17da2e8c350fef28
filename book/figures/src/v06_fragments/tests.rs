use super::*;

#[test]
fn both_bring_eight_of_each() -> anyhow::Result<()> {
    for (kernel, _) in KERNELS {
        for array in ["a_tile", "b_tile"] {
            let n: usize = loads(kernel, array)?.iter().map(Vec::len).sum();
            assert_eq!(n, 8, "{kernel}, {array}");
        }
    }
    Ok(())
}

#[test]
fn v06_loads_four_at_a_time() -> anyhow::Result<()> {
    let lengths = |loads: Vec<Vec<usize>>| loads.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(loads("sgemm_v06_outer_product", "a_tile")?), [4, 4]);
    assert_eq!(lengths(loads("sgemm_v06_outer_product", "b_tile")?), [4, 4]);
    assert_eq!(lengths(loads("sgemm_v05_bank_conflict_free", "b_tile")?), [1; 8]);
    Ok(())
}
