use super::*;

#[test]
fn labels_do_not_overlap() {
    let placed = spread_labels(&[10.0, 11.0, 12.0, 90.0], 17.0, 0.0, 100.0);
    let mut sorted = placed.clone();
    sorted.sort_by(f64::total_cmp);
    assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 17.0), "{placed:?}");
}

#[test]
fn the_intensity_is_of_the_size_that_is_drawn() -> anyhow::Result<()> {
    let of = |kernel| -> anyhow::Result<[String; 2]> {
        let counters = machine::counters(kernel, counts::SHAPE)?;
        Ok([512, SIZE].map(|size| format!("{:.1}", intensity(&counters, Shape::square(size)))))
    };
    assert_eq!(of("sgemm_v03_from_shared")?, ["16.0", "28.4"]);
    assert_eq!(of("sgemm_v06_outer_product")?, ["28.4", "31.5"]);
    Ok(())
}

#[test]
fn a_lower_label_may_have_to_go_up() {
    assert_eq!(spread_labels(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
}
