use super::*;

#[track_caller]
fn file_of(device: &str, emulated: bool) -> String {
    slug(&Run { device: device.into(), emulated, ..Run::default() })
}

#[test]
fn a_machine_has_a_short_name() {
    assert_eq!(file_of("NVIDIA H200", false), "h200");
    assert_eq!(file_of("NVIDIA GeForce RTX 4090", false), "rtx-4090");
    assert_eq!(file_of("Tesla V100-SXM2-16GB", false), "v100-sxm2-16gb");
    assert_eq!(file_of("Emulated GPU (sm_90)", true), "emulated");
    assert_eq!(file_of("../../etc/passwd", false), "etc-passwd");
    assert_eq!(file_of("NVIDIA", false), "unknown");
}
