use super::*;
use crate::{ffi::by_number, result::ERROR_INVALID_VALUE};

#[test]
fn names_of_watch_levels() {
    assert_eq!(check_level_from_name("on"), Some(CheckLevel::Checked));
    assert_eq!(check_level_from_name("loud"), None);
    assert_eq!(by_number(&CHECK_LEVELS, 1), Ok(CheckLevel::Count));
    assert_eq!(by_number(&CHECK_LEVELS, 9), Err(ERROR_INVALID_VALUE));
}

#[test]
fn the_limit_of_a_control_group_counts() {
    let check = |files: &[(&str, &str)], want: u64| {
        let all = [&[("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n")], files].concat();
        let read = |path: &str| all.iter().find(|(p, _)| *p == path).map(|(_, text)| (*text).to_owned());
        assert_eq!(machine_bytes(&read), Some(want), "{files:?}");
    };
    let v2 = ("/proc/self/cgroup", "0::/user/job\n");
    check(&[], 16 << 30);
    check(&[v2, ("/sys/fs/cgroup/user/job/memory.max", "max\n")], 16 << 30);
    check(&[v2, ("/sys/fs/cgroup/user/job/memory.max", "1073741824\n")], 1 << 30);
    check(&[v2, ("/sys/fs/cgroup/user/memory.max", "2147483648\n")], 2 << 30);
    check(&[v2, ("/sys/fs/cgroup/memory.max", "99999999999999\n")], 16 << 30);
    let v1 = ("/proc/self/cgroup", "9:cpu:/a\n4:memory:/docker/x\n0::/b\n");
    check(&[v1, ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n")], 1 << 29);
}

#[test]
fn a_file_that_is_named_often_is_read_once() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/common.cuh");
    assert_eq!(find_sources("", [path; 1000].into_iter()).len(), 1);
}

#[test]
fn a_file_that_has_changed_since_the_ptx_was_made_is_left_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/common.cuh");
    let hash = sha256::sha256(&std::fs::read(path).expect("a file"));
    let found = |hash: &str| {
        let ptx = format!("// Generated\n// source: a.cu sha256:1\n// include: {path} sha256:{hash}\n.version 8.4\n");
        find_sources(&ptx, [path].into_iter()).len()
    };
    assert_eq!((found(&hash), found("12")), (1, 0));
}

#[test]
fn only_sources_are_read() {
    assert_eq!(find_source("/etc/passwd"), None);
    assert_eq!(find_source("no/such/file.cu"), None);
}

#[test]
fn headers_of_a_toolkit_are_not_read() {
    let folder = std::env::temp_dir().join(format!("tile-headers-{}", std::process::id()));
    let header = folder.join("include/crt/helpers.h");
    std::fs::create_dir_all(header.parent().expect("a folder")).expect("it can be made");
    std::fs::write(&header, "// a header").expect("it can be written");
    let found = || find_source(header.to_str().expect("a name")).is_some();
    let before = found();
    std::fs::write(folder.join("include/cuda_runtime_api.h"), "").expect("it can be written");
    let after = found();
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    assert_eq!((before, after), (true, false));
}

#[test]
fn names_for_one_launch_are_used_once() {
    name_params(None, vec!["a".into()]);
    assert_eq!(options_for("k", &[]).names.params, ["a"]);
    assert_eq!(options_for("k", &[]).names.params, Vec::<String>::new());
}
