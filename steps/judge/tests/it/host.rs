//! Answers to tasks for the host, right and wrong.

use course::Catalogue;
use course::host::HostCall;
use course::tasks::Task;
use course::verdict::{Status, Verdict};
use judge::Request;

const TASKS: &str = r#"
[[host]]
id = "launch"
title = "The launch"
text = "Write it."
call = { launch = { source = "v01_col_per_lane" } }
entry = "sgemm_v01_col_per_lane"
work = "sgemm"
tile = [32, 32]
block = [1024, 1, 1]
minutes = 10
starter = "grid = [1, 1, 1]\n"
[[host]]
id = "operands"
title = "The call"
text = "Write it."
call = "blas"
work = "sgemm"
minutes = 10
starter = ""
"#;

fn tasks() -> Vec<Task> {
    Catalogue::parse(TASKS, "v01", "tasks.toml")
        .expect("a catalogue")
        .tasks
}

fn judged(task: &Task, answer: &str) -> Verdict {
    let call: &HostCall = &task.host.as_ref().expect("a task for the host").call;
    let request = Request {
        task,
        ptx: include_str!("../../../../kernels/ptx/v01_col_per_lane.ptx"),
        sources: &[],
        seed: 1,
        hidden: false,
        threads: 1,
    };
    judge::host::judge(&request, call, answer)
}

const LAUNCH: &str = r#"grid = ["ceil_div(N, 32)", "ceil_div(M, 32)", 1]
block = [1024, 1, 1]
arguments = ["M", "N", "K", "A", "B", "C"]
"#;

#[track_caller]
fn launch(from: &str, to: &str, code: &str, why: &str) {
    assert!(LAUNCH.contains(from), "`{from}` is not there");
    let verdict = judged(&tasks()[0], &LAUNCH.replace(from, to));
    assert_eq!(verdict.code.as_deref(), Some(code), "{to}: {verdict:#?}");
    let told = verdict.why.expect("a reason");
    assert!(told.contains(why), "{to}: {told}, not {why}");
}

#[test]
fn a_launch_covers_the_result_and_no_more() {
    let verdict = judged(&tasks()[0], LAUNCH);
    assert_eq!(verdict.status, Status::Passed, "{verdict:#?}");
    launch("ceil_div(N, 32)", "N / 32", "E-LAUNCH", "");
    launch(
        "ceil_div(N, 32)",
        "N / 32 + 1",
        "no-idle-blocks",
        "64x64x8 needs 4 blocks, and 6 are launched",
    );
    launch("[1024, 1, 1]", "[512, 1, 1]", "wrong-result", "never written");
    launch("[1024, 1, 1]", "[2048, 1, 1]", "E-LAUNCH", "");
    launch("\"M\", \"N\", \"K\"", "\"N\", \"M\", \"K\"", "E-OOB", "");
    launch("\"A\", \"B\"", "\"B\", \"A\"", "E-OOB", "");
    launch(
        "\"A\", \"B\"",
        "\"A\"",
        "E-LAUNCH",
        "5 arguments, and the kernel takes 6",
    );
    launch(
        "\"K\", \"A\"",
        "\"A\", \"K\"",
        "E-LAUNCH",
        "argument 3, `A`, has 8 bytes, and its parameter 4",
    );
    launch(
        "ceil_div(N, 32)",
        "ceil(N / 32)",
        "compile",
        "write ceil_div(a, b)",
    );
    launch("block", "blocks", "compile", "line 2: unknown field `blocks`");
}

const OPERANDS: &str = r#"transa = "n"
transb = "n"
m = "N"
n = "M"
k = "K"
a = "B"
lda = "N"
b = "A"
ldb = "K"
ldc = "N"
"#;

#[track_caller]
fn operands(changes: &[(&str, &str)], code: &str, why: &str) {
    let answer = changes.iter().fold(OPERANDS.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not there");
        text.replacen(from, to, 1)
    });
    let verdict = judged(&tasks()[1], &answer);
    assert_eq!(verdict.code.as_deref(), Some(code), "{answer}: {verdict:#?}");
    let told = verdict.why.expect("a reason");
    assert!(told.contains(why), "{answer}: {told}, not {why}");
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
    operands(
        &[("lda = \"N\"", "lda = \"K\"")],
        "E-LAUNCH",
        "CUBLAS_STATUS_INVALID_VALUE: lda is 3",
    );
    operands(
        &[("lda = \"N\"", "lda = \"N + 1\"")],
        "E-OOB",
        "read past the end of `B`",
    );
    operands(
        &[("ldc = \"N\"", "ldc = \"N + 1\"")],
        "E-OOB",
        "write past the end of `C`",
    );
    operands(
        &[("transa = \"n\"", "transa = \"x\"")],
        "compile",
        "`x` is neither n nor t",
    );
    operands(&[("k = \"K\"", "k = \"K - 1\"")], "wrong-result", "");
    // As many columns as there are numbers, and no rows.
    let endless = [("m = \"N\"", "m = 0"), ("n = \"M\"", "n = 9223372036854775807")];
    operands(&endless, "wrong-result", "");
}
