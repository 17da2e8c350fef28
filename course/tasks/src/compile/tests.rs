use super::*;

#[test]
fn errors_of_nvrtc_are_read() {
    let nvrtc = "my/v05.cu(23): error: identifier \"acc2\" is undefined\n          acc2 += 1; // error: no\n          ^\n\n\
                     my/v05.cu(30): error: expected a \";\"\n\n2 errors detected in the compilation of \"my/v05.cu\".\n";
    let refused = Refused::from_log(nvrtc);
    let messages: Vec<String> = refused.errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["my/v05.cu:23: identifier \"acc2\" is undefined", "my/v05.cu:30: expected a \";\""]);
    assert!(refused.hint.expect("known").contains("not declared here"));
}

/// Each row of the file: what NVRTC says, the line that it shows with a caret, and a part of the hint.
#[test]
fn first_mistakes_have_their_hint() {
    for row in include_str!("../../../../tests/data/compile-errors.txt").lines().filter(|row| !row.starts_with('#')) {
        let [message, line, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let caret = line.find('^').expect("a caret");
        let log = format!("my/v01.cu(9): error: {message}\n{}\n{:caret$}^\n\n", line.replacen('^', "", 1), "");
        let hint = Refused::from_log(&log).hint.unwrap_or("none".into());
        assert!(hint.contains(expected), "{row}: {hint}");
    }
}

#[test]
fn headers_of_nvcc_are_told_from_those_of_the_standard_library() {
    let hint = |header: &str| {
        Refused::from_log(&format!("a.h(55): catastrophic error: cannot open source file \"{header}\"\n")).hint
    };
    assert!(hint("crt/mma.h").expect("known").contains("v10_fragments.cuh"));
    assert!(hint("crt/sm_90_rt.h").expect("known").contains("CUDA 12.4 toolkit"));
    assert!(hint("vector").expect("known").contains("standard library"));
}

#[test]
fn catastrophes_and_unknown_words_are_kept() {
    let log = "a.cu(1): catastrophic error: cannot open source file \"x.h\"\n";
    let refused = Refused::from_log(log);
    assert_eq!(refused.first(), "a.cu:1: cannot open source file \"x.h\"");
    assert_eq!(Refused::from_log("something else\n").first(), "something else");
    assert_eq!(Refused::from_log("").first(), "the compiler gave no reason");
}

#[test]
fn a_long_log_is_cut_between_letters() {
    let refused = Refused::from_log(&"é".repeat(MAX_LOG_BYTES));
    assert!(refused.log.len() <= MAX_LOG_BYTES);
}

#[test]
fn errors_of_the_built_in_compiler_are_recognised() {
    let log = "error: expected `;`\n  --> my/v02.cu:23:19\n   |\n23 |     float v = x[0]\n   |                   ^ help: add `;` here\n";
    let refused = Refused::from_log(log);
    assert_eq!(refused.first(), "my/v02.cu:23: expected `;`");
    assert_eq!(refused.hint, None, "its messages have their own help");
}
