use super::*;

#[test]
fn v04_stores_what_v03_stores() -> anyhow::Result<()> {
    let shared = owned("sgemm_v03_from_shared", 128, 3)?;
    assert_eq!(shared, owned("sgemm_v04_float4", 128, 3)?);
    assert_ne!(shared, owned("sgemm_v05_bank_conflict_free", 128, 3)?);
    Ok(())
}

#[test]
fn every_element_of_the_tile_has_one_owner() -> anyhow::Result<()> {
    for kernel in ["sgemm_v03_from_shared", "sgemm_v05_bank_conflict_free", "sgemm_v06_outer_product"] {
        let mut n = 0;
        let mut all = BTreeSet::new();
        for warp in 0..8 {
            for lane in owned(kernel, 128, warp)? {
                n += lane.len();
                all.extend(lane);
            }
        }
        assert_eq!((n, all.len()), (128 * 128, 128 * 128), "{kernel}");
    }
    Ok(())
}
