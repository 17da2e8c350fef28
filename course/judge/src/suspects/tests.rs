use super::*;

#[test]
fn a_sum_that_hides_another_is_named() {
    let text = "__global__ void k(float* C)\n{\n    T acc = 0;\n    for (int k = 0; k < 8; ++k) {\n        \
                    T acc = 0;\n        acc += k;\n    }\n    C[0] = acc;\n}\n";
    let told = |text: &str| suspects(&Source::new(&text.into()), Subject::Zeros, false);
    let expected = "line 5 declares another acc, which hides that of line 3: only the inner one is added to";
    assert_eq!(told(text).as_deref(), Some(expected));
    assert_eq!(told(&text.replacen("        T acc = 0;\n", "", 1)), None);
    // Two functions, and two blocks beside each other.
    assert_eq!(told(&text.replacen("    for (int k = 0; k < 8; ++k) {", "}\n__global__ void l(float* C)\n{", 1)), None);
    assert_eq!(told(&text.replacen("    T acc = 0;", "    if (C) { T acc = 0; }", 1)), None);
    let text = text.replacen("T acc = 0;\n        acc", "for (int k = 0; k < 4; ++k)\n            acc", 1);
    let told = suspects(&Source::new(&text.as_str().into()), Subject::Unknown, false);
    assert_eq!(told.as_deref(), Some("line 5 declares another k, which hides that of line 4"));
}

#[test]
fn what_no_kernel_reaches_is_no_suspect() {
    let told = |calls: &str| {
        let text = format!(
            "__device__ void put(float* C, int at, float v)\n{{\n    if (at > 0) C[at] = v;\n}}\n\
                 __global__ void k(float* C)\n{{\n    {calls}\n}}\n"
        );
        suspects(&Source::new(&text.as_str().into()), Subject::Stores, false)
    };
    assert_eq!(told(""), None);
    assert_eq!(told("C[0] = 1;").as_deref(), Some("C is written at line 7"));
    assert_eq!(told("put(C, 1, 2);").as_deref(), Some("C is written at lines 3, 7"));
}

#[test]
fn rounds_are_those_of_the_loop_or_of_their_count() {
    let told = |text: &str| suspects(&Source::new(&text.into()), Subject::Rounds, false);
    let kernel = |rounds: &str| format!("__global__ void k(int K)\n{{\n    {rounds}\n    }}\n}}\n");
    let from = |rounds: &str| told(&kernel(rounds));
    assert_eq!(from("for (int k = 0; k < K; ++k) {").as_deref(), Some("the loop over k starts at line 3"));
    let counted = "int n = K / 8;\n    for (int i = 0; i < n; ++i) {";
    assert_eq!(from(counted).as_deref(), Some("rounds are counted at line 3"));
    assert_eq!(from("for (int i = 0; i < 8; ++i) {"), None);
}

#[test]
fn a_number_of_too_few_bits_is_named() {
    let text = "__global__ void k(double* C)\n{\n    float sum = 0;\n    sum += 1;\n    C[0] = sum;\n}\n";
    let told = |is_double| suspects(&Source::new(&text.into()), Subject::Narrow, is_double);
    assert_eq!((told(true).as_deref(), told(false)), (Some("line 3 declares sum as `float`"), None));
}
