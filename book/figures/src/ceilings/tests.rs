use super::*;

/// Intensities in FLOP/byte, printed by `cargo xtask bench v10` and `v12`, of kernels without bulk loads.
#[test]
fn tiles_ask_for_what_is_counted() -> anyhow::Result<()> {
    let plots = crate::charts::load()?.roofline;
    let of = |plot: usize, kernel: usize| plots[plot].kernels[kernel].intensity(Shape::square(512));
    assert_eq!([of(0, 3), of(0, 0), of(1, 0)].map(|flop| format!("{flop:.1}")), ["51.2", "28.4", "64.0"]);
    Ok(())
}

#[test]
fn tiles_are_those_of_the_kernels() -> anyhow::Result<()> {
    for point in &crate::charts::load()?.roofline[1].kernels {
        let text = machine::read(&format!("kernels/{}.cu", machine::source_of(&point.kernel)?))?;
        let of_block = match text.split_once(" = Tiles<") {
            Some((_, rest)) => {
                let numbers = rest.split(", ").take(2).map(str::parse);
                numbers.collect::<Result<Vec<usize>, _>>()?
            }
            None => {
                vec![machine::constant(&point.kernel, "BM")? as usize, machine::constant(&point.kernel, "BN")? as usize]
            }
        };
        let blocks = if text.contains("__cluster_dims__") { 2 } else { 1 };
        assert_eq!([blocks * of_block[0], of_block[1]], point.tile, "{}", point.kernel);
    }
    Ok(())
}
