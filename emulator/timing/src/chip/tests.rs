use super::*;

#[test]
fn the_committed_file_is_read() {
    assert_eq!(Chip::h200().sms, simt::occupancy::SMS);
    assert_eq!(Chip::h200().store_shared_issue, [4, 6, 10]);
}

#[test]
fn each_constant_is_there_once_with_its_measurement() {
    let file = h200();
    let constants = file["constants"].as_array().expect("a list");
    let names: Vec<&str> = constants.iter().filter_map(|constant| constant["constant"].as_str()).collect();
    assert_eq!(names, Chip::NAMES);
    for constant in constants {
        let keys: Vec<&String> = constant.as_object().expect("fields").keys().collect();
        assert_eq!(keys, ["constant", "how", "measured", "unit", "value"], "{constant}");
    }
}
