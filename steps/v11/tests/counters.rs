//! Kernels that take tensor maps, counted again: the counts in `kernels/counters.json` are what the emulated GPU
//! counts. (Other kernels are launched without their program, by the tests of the repository.)

use std::fs;
use std::path::Path;
use std::process::Command;

use records::profile::{Counted, Profile, ProfileRecord, SHEET, Sheet};
use records::record::{Launched, Line};

const KERNELS: [&str; 4] =
    ["sgemm_v11_producer", "sgemm_v11_split_k", "sgemm_v11_stream_k", "sgemm_v11_rescheduled"];
const SHAPE: &str = "500x516x508";

#[test]
fn the_sheet_says_what_is_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(SHEET)).expect("the sheet");
    let sheet = Sheet::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let record = ProfileRecord::load(&root.join("book/data/h200-counters.json")).expect("the record");
    for launched in KERNELS.map(launch) {
        let mut profiles = record.profiles.iter();
        let profile: &Profile = profiles
            .find(|profile| profile.kernel == launched.kernel && profile.shape == launched.shape)
            .unwrap_or_else(|| panic!("{} on {SHAPE} is not on record", launched.kernel));
        assert_eq!(
            (launched.grid, launched.block, launched.dynamic_shared),
            (profile.grid, profile.block, profile.dynamic_shared),
            "{} is launched in another way than when it was profiled",
            launched.kernel
        );
        let counters = launched.counters.expect("the emulated GPU counts");
        assert_eq!(
            sheet.find(&launched.kernel, Some(launched.shape)),
            Counted::new(profile, &counters).as_ref(),
            "write it again: cargo xtask profile --table v11"
        );
    }
}

fn launch(kernel: &str) -> Launched {
    let mut program = Command::new(env!("CARGO_BIN_EXE_v11"));
    program.args(["launch", "--size", SHAPE, "--emulate", "--json", "--kernel", kernel]);
    let output = program.output().expect("the step starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("a line"));
    let launched = lines.find_map(|line| match line {
        Line::Launched(launched) if launched.kernel == kernel => Some(*launched),
        _ => None,
    });
    launched.unwrap_or_else(|| panic!("{kernel} was not launched"))
}
