use std::path::Path;

use super::*;

#[test]
fn only_an_elf_file_is_a_cubin() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/cubin/saxpy.cubin");
    let whole = std::fs::read(path).expect("it is committed");
    for end in (0..whole.len() / 2).step_by(61) {
        assert!(without_ptx(whole[..end].to_vec()).is_err(), "{end}");
    }
    // Cut once, nothing is left to cut.
    assert_eq!(without_ptx(whole.clone()).expect("a cubin"), whole);
}

#[test]
fn reads_what_ptxas_says() {
    let log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                   ptxas info    : Function properties for k\n\
                   ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 32 registers, 2048 bytes smem, 376 bytes cmem[0]\n";
    assert_eq!(resources(log), ["k: 32 registers, 2048 bytes smem, 4 bytes spilled"]);
}
