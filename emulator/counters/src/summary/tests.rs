use super::*;
use crate::Counters;

#[test]
fn columns_show_their_field() {
    let summary = Summary::from(&Counters {
        warp_instructions: 4,
        thread_instructions: 64,
        fmas: 96,
        global_load_sectors: 7,
        global_atomic_sectors: 1,
        ..Counters::default()
    });
    assert_eq!(Column::Lanes.of(&summary), Some(16.0));
    assert_eq!(Column::Lanes.of(&Summary::default()), None);
    assert_eq!(Column::MultiplyAdds.of(&summary), Some(3.0));
    assert_eq!(Column::Sectors.of(&summary), Some(8.0));
}

#[test]
fn a_key_that_is_missing_is_an_error() {
    let error = serde_json::from_str::<Summary>(r#"{"instructions": 1}"#).expect_err("missing");
    assert!(error.to_string().starts_with("missing field `lane_instructions`"), "{error}");
}
