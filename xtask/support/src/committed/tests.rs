use super::*;

#[test]
fn numbers_of_calls_and_of_registers_are_no_difference() {
    let text = |call: u32| {
        format!("// sm_90: k: {call} registers\n\t{{ // callseq {call}, 0\n\t, prototype_{call};\n\tret;\n")
    };
    assert!(is_same(&text(1), &text(150)));
    assert!(!is_same(&text(1), &text(1).replace("ret", "exit")));
}
