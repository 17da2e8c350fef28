use super::*;

#[test]
fn reads_what_ptxas_says() {
    let log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                   ptxas info    : Function properties for k\n\
                   ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 32 registers, 2048 bytes smem, 376 bytes cmem[0]\n";
    assert_eq!(resources(log), ["k: 32 registers, 2048 bytes smem, 4 bytes spilled"]);
}
