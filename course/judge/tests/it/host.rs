//! Answers to tasks for the host, right and wrong.

use catalog::Shape;
use tasks::verdict::{Status, Verdict};
use tasks::{Catalogue, host::HostCall, task::Task};

use crate::common::request;

const TASKS: &str = include_str!("host_tasks.toml");

fn tasks() -> Vec<Task> {
    Catalogue::parse(TASKS, "v01", "tasks.toml").expect("a catalogue").tasks
}

const FINISHED: &str = include_str!("../../../../kernels/ptx/v01_col_per_lane.ptx");

fn judged(task: &Task, answer: &str) -> Verdict {
    judged_with(task, FINISHED, answer).expect("the kernel is finished")
}

fn judged_with(task: &Task, ptx: &str, answer: &str) -> Result<Verdict, judge::JudgeError> {
    let call: &HostCall = &task.host.as_ref().expect("a task for the host").call;
    judge::host::judge(&request(task, ptx, &[]), call, answer)
}

#[track_caller]
fn fails(task: &Task, answer: &str, code: &str, why: &str) {
    let verdict = judged(task, answer);
    assert_eq!(verdict.code.as_deref(), Some(code), "{answer}: {verdict:#?}");
    let message = verdict.why.expect("a reason");
    assert!(message.contains(why), "{answer}: {message}, not {why}");
}

const LAUNCH: &str = r#"grid = ["ceil_div(N, 32)", "ceil_div(M, 32)", 1]
block = [1024, 1, 1]
arguments = ["M", "N", "K", "A", "B", "C"]
"#;

#[track_caller]
fn launch(from: &str, to: &str, code: &str, why: &str) {
    assert!(LAUNCH.contains(from), "`{from}` is not there");
    fails(&tasks()[0], &LAUNCH.replace(from, to), code, why);
}

#[test]
fn a_launch_covers_the_result_and_no_more() {
    let verdict = judged(&tasks()[0], LAUNCH);
    assert_eq!(verdict.status, Status::Passed, "{verdict:#?}");
    launch("ceil_div(N, 32)", "N / 32", "E-LAUNCH", "");
    launch("ceil_div(N, 32)", "N / 32 + 1", "no-idle-blocks", "64x64x8 needs 4 blocks, and 6 are launched");
    launch("[1024, 1, 1]", "[512, 1, 1]", "wrong-result", "never written");
    launch("[1024, 1, 1]", "[2048, 1, 1]", "E-LAUNCH", "");
    launch("\"M\", \"N\", \"K\"", "\"N\", \"M\", \"K\"", "E-OOB", "");
    launch("\"A\", \"B\"", "\"B\", \"A\"", "E-OOB", "");
    launch("\"A\", \"B\"", "\"A\"", "E-LAUNCH", "5 arguments, and the kernel takes 6");
    launch("\"K\", \"A\"", "\"A\", \"K\"", "E-LAUNCH", "argument 3, `A`, has 8 bytes, and its parameter 4");
    launch("ceil_div(N, 32)", "ceil(N / 32)", "compile", "write ceil_div(a, b)");
    launch("block", "blocks", "compile", "line 2: unknown field `blocks`");
}

/// Returns the number of right shapes of an answer, and number of shapes for which `is_right` holds.
#[track_caller]
fn right_shapes(task: &Task, answer: &str, is_right: impl Fn(&Shape) -> bool) {
    let verdict = judged(task, answer);
    assert_eq!(verdict.code.as_deref(), Some("wrong-result"), "{verdict:#?}");
    let shapes = judge::shapes::shapes_for(task, 1, judge::shapes::ShapeSet::Public);
    let right = shapes.iter().filter(|shape| is_right(shape)).count();
    assert!(0 < right && right < shapes.len(), "{right}");
    assert_eq!(verdict.n_shapes, right, "{answer}");
}

#[test]
fn shapes_count_as_right_also_after_a_wrong_one() {
    let launch = LAUNCH.replace("ceil_div(N, 32)", "min(ceil_div(N, 32), 2)");
    right_shapes(&tasks()[0], &launch, |shape| shape.n <= 64);
    let blas = OPERANDS.replace("k = \"K\"", "k = \"min(K, 8)\"");
    right_shapes(&tasks()[1], &blas, |shape| shape.k <= 8);
}

/// Returns a kernel in place of the finished one.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_75\n.address_size 64\n\
         .extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n\
         .global .align 1 .b8 text[4] = {{72, 105, 10, 0}};\n\
         .visible .entry sgemm_v01_col_per_lane(.param .u32 m, .param .u32 n, .param .u32 k, .param .u64 a, \
         .param .u64 b, .param .u64 c)\n{{\n.reg .b64 %rd<4>;\n.reg .f32 %f<2>;\n{body}\nret;\n}}\n"
    )
}

#[test]
fn a_launch_for_the_host_is_judged_as_that_of_a_kernel() {
    let task = &tasks()[0];
    let undefined = kernel(
        ".shared .align 4 .f32 empty;\nld.param.u64 %rd1, [c];\ncvta.to.global.u64 %rd1, %rd1;\n\
         ld.shared.f32 %f1, [empty];\nst.global.f32 [%rd1], %f1;",
    );
    let verdict = judged_with(task, &undefined, LAUNCH).expect("a verdict");
    assert_eq!(verdict.code.as_deref(), Some("W-UNINIT"), "{verdict:#?}");

    let prints = kernel(
        "mov.u64 %rd1, text;\ncvta.global.u64 %rd2, %rd1;\nmov.u64 %rd3, 0;\n{\n.param .b64 format;\n\
         st.param.b64 [format], %rd2;\n.param .b64 arguments;\nst.param.b64 [arguments], %rd3;\n\
         .param .b32 result;\ncall.uni (result), vprintf, (format, arguments);\n}",
    );
    let verdict = judged_with(task, &prints, LAUNCH).expect("a verdict");
    assert!(verdict.printed.starts_with("Hi\n"), "{verdict:#?}");

    // These failures are not the answer's.
    for (ptx, says) in [("what", "expected"), (&kernel("").replace("_col_", "_row_"), "there is no kernel called")] {
        let why = judged_with(task, ptx, LAUNCH).expect_err("no verdict").to_string();
        assert!(why.starts_with("the finished kernel cannot be launched: ") && why.contains(says), "{why}");
    }
}

const OPERANDS: &str = include_str!("operands.toml");

#[track_caller]
fn operands(changes: &[(&str, &str)], code: &str, why: &str) {
    let answer = changes.iter().fold(OPERANDS.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not there");
        text.replacen(from, to, 1)
    });
    fails(&tasks()[1], &answer, code, why);
}

#[test]
fn a_row_major_product_is_the_column_major_one_of_swapped_operands() {
    let verdict = judged(&tasks()[1], OPERANDS);
    assert_eq!(verdict.status, Status::Passed, "{verdict:#?}");
    let straight = [
        ("m = \"N\"", "m = \"M\""),
        ("n = \"M\"", "n = \"N\""),
        ("a = \"B\"", "a = \"A\""),
        ("lda = \"N\"", "lda = \"M\""),
        ("b = \"A\"", "b = \"B\""),
        ("ldc = \"N\"", "ldc = \"M\""),
    ];
    operands(&straight, "wrong-result", "");
    operands(&[("lda = \"N\"", "lda = \"K\"")], "E-LAUNCH", "CUBLAS_STATUS_INVALID_VALUE: lda is 3");
    operands(&[("lda = \"N\"", "lda = \"N + 1\"")], "E-OOB", "read past the end of `B`");
    operands(&[("ldc = \"N\"", "ldc = \"N + 1\"")], "E-OOB", "write past the end of `C`");
    operands(&[("transa = \"n\"", "transa = \"x\"")], "compile", "`x` is neither n nor t");
    operands(&[("k = \"K\"", "k = \"K - 1\"")], "wrong-result", "");
    // As many columns as possible, and no rows.
    let endless = [("m = \"N\"", "m = 0"), ("n = \"M\"", "n = 9223372036854775807")];
    operands(&endless, "wrong-result", "");
}
