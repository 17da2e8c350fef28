use super::*;

#[test]
fn numbers_of_calls_and_of_registers_are_no_difference() {
    let text = |call: u32| {
        format!("// sm_90: k: {call} registers\n\t{{ // callseq {call}, 0\n\t, prototype_{call};\n\tret;\n")
    };
    assert!(is_same(&text(1), &text(150)));
    assert!(!is_same(&text(1), &text(1).replace("ret", "exit")));
}

#[test]
fn reads_what_ptxas_says() {
    let log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                   ptxas info    : Function properties for k\n\
                   ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 32 registers, 2048 bytes smem, 376 bytes cmem[0]\n";
    assert_eq!(resources(log), ["k: 32 registers, 2048 bytes smem, 4 bytes spilled"]);
}
