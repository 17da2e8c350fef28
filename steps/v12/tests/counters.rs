//! Counters of machine code that ptxas 13.0 made, as an H200's driver of that version makes it of the committed PTX:
//! equal to what Nsight Compute counted there, instructions included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use records::profile::{Counted, ProfileRecord};
use records::record::{Line, Outcome};

/// Files of `tests/data/machine`, and a kernel of each: products of warpgroups, and copies to two blocks at a time.
const KERNELS: [(&str, &str); 2] =
    [("v12_wgmma.cuda_13.z", "gemm_v12_wgmma_f32"), ("v12_multicast.cuda_13.z", "gemm_v12_multicast_f32")];
const SIZE: &str = "1024";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn counters_of_machine_code_are_the_hardwares() {
    let record = ProfileRecord::load(&root().join("book/data/h200-counters.json")).expect("the record");
    for (file, kernel) in KERNELS {
        let packed = fs::read(root().join("tests/data/machine").join(file)).expect("committed machine code");
        let cubin = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("compressed");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).with_extension("cubin");
        fs::write(&path, cubin).expect("a folder for tests");
        let measurement = measured(kernel, &path);
        let Outcome::Passed(passed) = measurement.outcome else { panic!("{kernel} did not pass") };
        let code = passed.machine_code.expect("there is machine code");
        let why = code.predicted.no_prediction.unwrap_or_default();
        let counters = code.counters.unwrap_or_else(|| panic!("{kernel} does not run: {why}"));
        let mut profiles = record.profiles.iter();
        let profile = profiles.find(|profile| profile.kernel == kernel && profile.shape == measurement.shape);
        let counted = Counted::new(profile.expect("it was profiled"), &counters).expect("all metrics");
        for one in counted.compared() {
            assert_eq!(one.ours, one.theirs, "{kernel}: {}", one.pair.name);
        }
    }
}

fn measured(kernel: &str, cubin: &Path) -> records::record::Measurement {
    let mut program = Command::new(env!("CARGO_BIN_EXE_v12"));
    program.args(["bench", "--size", SIZE, "--emulate", "--json", "--kernel", kernel, "--cubin"]).arg(cubin);
    let output = program.output().expect("the step starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("a line"));
    let found = lines.find_map(|line| match line {
        Line::Measurement(measurement) if measurement.kernel == kernel => Some(*measurement),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{kernel} was not measured"))
}
