use super::*;

#[test]
fn a_written_forecast_is_read_again() {
    let forecast = Forecast { step: 0.5, alone: 0.75, two: 1.25, tile: 2.0 };
    let forecasts = BTreeMap::from([("boxes".to_owned(), forecast)]);
    assert_eq!(read(&write(&forecasts)), forecasts);
}

#[test]
fn ranks_are_compared_and_not_numbers() {
    let check = |pairs: &[(f64, f64)]| rank_correlation(pairs);
    assert_eq!(check(&[(1.0, 10.0), (2.0, 1000.0), (3.0, 1001.0)]), Some(1.0));
    assert_eq!(check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
    assert_eq!(check(&[(1.0, 1.0), (2.0, 1.0)]), None);
}
