use super::*;

#[test]
fn all_warps_of_the_block_walk_together() -> anyhow::Result<()> {
    let [edge, _] = machine::tile(KERNEL)?;
    for buffer in 0..3 {
        let first = tiles(buffer, 0, edge as usize)?;
        let last = tiles(buffer, 31, edge as usize)?;
        assert_eq!(first, last);
    }
    Ok(())
}

#[test]
fn a_goes_along_its_row_and_b_down_its_column() -> anyhow::Result<()> {
    let [edge, _] = machine::tile(KERNEL)?;
    let edge = edge as usize;
    let [col, row] = BLOCK.map(|b| b as usize);
    let n = SIZE / edge;
    assert_eq!(tiles(0, 0, edge)?, (0..n).map(|i| (row, i)).collect::<Vec<_>>());
    assert_eq!(tiles(1, 0, edge)?, (0..n).map(|i| (i, col)).collect::<Vec<_>>());
    assert_eq!(tiles(2, 0, edge)?, [(row, col)]);
    Ok(())
}
