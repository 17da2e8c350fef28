use super::*;

#[track_caller]
fn compared(ptx: &str) -> Result<(), Stale> {
    compare(Path::new(env!("CARGO_MANIFEST_DIR")), ptx)
}

#[test]
fn a_file_as_it_was_is_fresh() {
    let hash = sha256(include_bytes!("../lib.rs"));
    assert_eq!(compared(&format!("// source: src/lib.rs sha256:{hash}\n.version 8.4\n")), Ok(()));
}

#[test]
fn names_with_a_dot_keep_it() {
    let target = |source: &str| target_of(Path::new("/r"), Path::new(source));
    assert_eq!(target("/r/kernels/a.cu"), Path::new("/r/kernels/ptx/a.ptx"));
    assert_eq!(target("/r/kernels/rust/a.rs"), Path::new("/r/kernels/rust/ptx/a.ptx"));
    assert_eq!(target("/r/steps/v05/tasks/b.starter.cu"), Path::new("/r/steps/v05/tasks/b.starter.ptx"));
}

#[test]
fn kernels_alone_have_machine_code() {
    let cubin = |source: &str| cubin_of(Path::new("/r"), Path::new(source));
    assert_eq!(cubin("/r/kernels/bench/a.cu"), Some("/r/kernels/cubin/a.cubin".into()));
    assert_eq!(cubin("/r/steps/v05/tasks/b.cu"), None);
    assert_eq!(cubin_hash("// cubin: kernels/cubin/a.cubin sha256:12\n"), Some("12"));
    assert_eq!(cubin_hash(".version 8.4\n// cubin: a sha256:12\n"), None);
}

#[test]
fn what_ptxas_said_is_found_by_kernel_and_device() {
    let ptx = "// sm_80: a: 1 registers\n// sm_90: ab: 2 registers\n// sm_90: a: 3 registers, 0 bytes spilled\n";
    assert_eq!(ptxas(ptx, "a", "sm_90", "registers"), Some("3"));
    assert_eq!(ptxas(ptx, "a", "sm_90", "bytes spilled"), Some("0"));
    assert_eq!(ptxas(ptx, "a", "sm_80", "registers"), Some("1"));
    assert_eq!(ptxas(ptx, "a", "sm_80", "bytes spilled"), None);
    assert_eq!(ptxas(ptx, "b", "sm_90", "registers"), None);
}

#[test]
fn what_is_not_as_it_was_is_told() {
    assert_eq!(compared("// source: src/lib.rs sha256:00\n"), Err(Stale::Edited("src/lib.rs".into())));
    assert_eq!(compared("// source: a.cu sha256:00\n"), Err(Stale::Gone("a.cu".into())));
    assert_eq!(compared("// source: src/lib.rs\n"), Err(Stale::NoHash));
    assert_eq!(compared(".version 8.4\n// source: src/lib.rs sha256:00\n"), Err(Stale::NoSource));
}
