//! `hint`, `explain`, `watch`, `predict` and bare `xtask` as a learner sees them: what goes where, and the exit codes.
//!
//! clang and `judge` are played by shell scripts (`played`).

#![cfg(unix)]

mod played;

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use course::TaskName;
use course::explain::{Counts, Explained, Line};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use ladder::Shape;
use ladder::provenance::sha256;
use serde_json::Value;

use played::{Learner, conflicts, passed, told, wrong};

/// Exit code and what goes to standard output; what goes to standard error must contain `note`.
#[track_caller]
fn said(learner: &Learner, words: &str, note: &str) -> (i32, String) {
    let (code, out, err) = learner.run(words);
    assert!(err.contains(note), "{words}: {err}, not {note}");
    (code, out)
}

#[test]
fn a_hint_fits_the_last_check_and_goes_on_to_a_part_of_the_solution() {
    let learner = Learner::new();
    let (code, out) = said(&learner, "hint v05", "");
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "there is no check of my/v05.cu yet, so this is the general hint; for one that fits: xtask check v05\n\n\
             a nudge (1 of 2): Go in rounds.\n\nmore: xtask hint v05 --more\n"
        )
    );
    learner.run("start v05");
    learner.verdict(&conflicts());
    learner.run("check v05");
    let levels = [
        ("hint v05", "a nudge (1 of 4): Which line has it?\n"),
        ("hint v05", "a nudge (1 of 4): Which line has it?\n"),
        ("hint v05 --more", "the concept (2 of 4): Words modulo 32.\n"),
        (
            "hint v05 --more --more",
            "a part of the finished kernel (4 of 4): do it\n\n    done();\n",
        ),
        (
            "hint v05 --more",
            "a part of the finished kernel (4 of 4): do it\n\n    done();\n",
        ),
    ];
    for (words, expected) in levels {
        let (code, out) = said(&learner, words, "");
        assert_eq!(code, 0);
        let chosen = "chosen by the last check, which ended with no-excess\n\n";
        assert!(out.starts_with(&format!("{chosen}{expected}")), "{words}: {out}");
    }
    let progress = learner.read("my/progress.toml");
    // One of the general hint, four of the other.
    for line in ["hints = 5", "no-excess = 4", "general = 1"] {
        assert!(progress.contains(line), "{line} in {progress}");
    }

    // Twice more: a hint was seen, so nobody is sent to it again.
    for _ in 0..2 {
        assert!(
            learner
                .run("check v05")
                .1
                .ends_with("\nnext: change my/v05.cu, then: xtask check v05\n")
        );
    }
    fs::write(learner.path("my/v05.cu"), "void f()\n{\n  done();\n}\n").expect("a file");
    let (_, out) = said(&learner, "hint v05", "");
    assert!(
        out.contains("(my/v05.cu has changed since: xtask check v05)"),
        "{out}"
    );
    assert!(out.contains("your copy has every line of it"), "{out}");

    learner.verdict(&wrong());
    learner.run("check v05");
    let (_, out) = said(&learner, "hint v05", "");
    assert!(
        out.starts_with(
            "the last check ended with wrong-result, which has no hint of its own; this is the general one\n"
        ),
        "{out}"
    );
    learner.verdict(&passed());
    learner.run("check v05");
    let (code, out) = said(&learner, "hint v05", "");
    assert_eq!(
        (code, out.as_str()),
        (0, "v05 passed its last check\nnext: xtask diff v05\n")
    );
}

fn counts(n: u64) -> Counts {
    Counts {
        instructions: n,
        lane_instructions: 32 * n,
        multiply_adds: 64 * n,
        sectors: 4 * n,
        requests: n,
        ..Counts::default()
    }
}

/// An explanation of a kernel with two lines that do something, one of them with excess.
fn explained(file: &str, lines: [u32; 2], excess: u64) -> Explained {
    let slow = Counts {
        shared_requests: 100,
        wavefronts: 100 + excess,
        excess,
        ..counts(131_072)
    };
    let mut total = counts(3);
    total += slow;
    let line = |line, counts| Line {
        file: file.to_owned(),
        line,
        counts,
    };
    Explained {
        task: TaskName::rebuild("v05"),
        kernel: "sgemm_x".into(),
        shape: Shape {
            m: 256,
            n: 256,
            k: 64,
        },
        grid: [2, 2, 1],
        block: [256, 1, 1],
        right: true,
        stopped: None,
        total,
        lines: vec![line(lines[0], counts(3)), line(lines[1], slow)],
    }
}

/// A learner whose copy has excess wavefronts, and the compiled solution.
fn with_explanations() -> Learner {
    let learner = Learner::new();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(learner.path(name).parent().expect("a folder")).expect("a folder");
        fs::write(learner.path(name), text).expect("a file");
    };
    let json = |explained: &Explained| serde_json::to_string(explained).expect("plain data");
    let hash = sha256(played::SOLUTION.as_bytes());
    write(
        "kernels/ptx/v05_x.ptx",
        &format!(
            "// Generated\n// source: kernels/v05_x.cu sha256:{hash}\n.version 8.4\n.entry sgemm_x() {{\n}}\n"
        ),
    );
    write("bin/yours.json", &json(&explained("my/v05.cu", [2, 3], 400)));
    write(
        "bin/finished.json",
        &json(&explained("kernels/v05_x.cu", [3, 6], 0)),
    );
    learner
}

#[test]
fn lines_are_explained_beside_the_sums_of_the_finished_kernel() {
    let learner = with_explanations();
    learner.run("start v05");
    let long =
        "    float much_too_long_to_fit_beside_the_counts = one + two + three + four + five + six + seven;\n";
    fs::write(learner.path("my/v05.cu"), format!("void f()\n{{\n{long}}}\n")).expect("a file");
    let (code, out) = said(
        &learner,
        "explain v05",
        "the lines of the finished kernel are shown once yours has passed",
    );
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r"
    my/v05.cu: your copy, sgemm_x on 256x256x64, counted on the emulated GPU
    bars: excess wavefronts; ######## is 400

      line instr  FMA global sectors shared wavefr excess
         2     3    6      3      12                               {
         3  131k 262k   131k    524k    100    500    400 ######## float much_too_long_to_fit_beside_th…

    kernels/v05_x.cu: the finished kernel, sgemm_x on 256x256x64, counted on the emulated GPU

      the whole launch               yours  finished  yours / finished
      PTX instructions of warps    131,075   131,075              1.00
      multiply-adds of warps       262,150   262,150              1.00
      requests to global memory    131,075   131,075              1.00
      sectors of global memory     524,300   524,300              1.00
      accesses to shared memory        100       100              1.00
      wavefronts of shared memory      500       100              5.00
      excess wavefronts                400         0

      instr: PTX instructions of warps; FMA: multiply-adds of warps; global: requests to global memory;
      sectors: sectors of global memory; shared: accesses to shared memory; wavefr: wavefronts of shared
      memory; excess: excess wavefronts. What a line calls in another file is counted as its own.
    ");
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");

    // Without a copy, and once it has passed, the finished kernel has lines, too.
    let finished = learner.run("explain v05 --finished").1;
    assert!(
        finished.contains("kernels/v05_x.cu: the finished kernel") && finished.contains("done();"),
        "{finished}"
    );
    assert!(!finished.contains("yours"), "{finished}");
    learner.verdict(&passed());
    learner.run("check v05");
    let (code, both) = said(&learner, "explain v05 --by sectors", "");
    assert!(
        code == 0 && both.contains("bars: sectors of global memory") && both.contains("done();"),
        "{both}"
    );
}

#[test]
fn explanations_are_records() {
    let learner = with_explanations();
    learner.run("start v05");
    let (code, out, _) = learner.run("explain v05 --json");
    let records: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    assert_eq!((code, records.len()), (0, 2));
    let [yours, finished] = [&records[0]["explain"], &records[1]["explain"]];
    assert_eq!(yours["whose"], "yours");
    assert_eq!(yours["by"], "excess");
    assert_eq!(yours["lines"][1]["counts"]["excess"], 400);
    assert!(yours["lines"][0]["text"].is_string());
    // What has not passed is not given away.
    assert!(finished["lines"].is_null() && finished["total"]["sectors"].is_u64());
    serde_json::from_value::<Explained>(yours.clone()).expect("an explanation");
}

/// Tags, ids and what goes on the way of a page that a parser complains about.
#[derive(Default)]
struct Seen {
    open: RefCell<Vec<String>>,
    attributes: RefCell<Vec<(String, String)>>,
    complaints: RefCell<Vec<String>>,
}

/// Elements without an end.
const VOID: [&str; 2] = ["meta", "link"];

impl TokenSink for Seen {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => {
                let name = tag.name.to_string();
                for attribute in &tag.attrs {
                    let name = attribute.name.local.to_string();
                    self.attributes
                        .borrow_mut()
                        .push((name, attribute.value.to_string()));
                }
                match tag.kind {
                    TagKind::StartTag if VOID.contains(&name.as_str()) => {}
                    TagKind::StartTag => self.open.borrow_mut().push(name),
                    TagKind::EndTag => {
                        let last = self.open.borrow_mut().pop();
                        if last.as_ref() != Some(&name) {
                            let complaint = format!("</{name}> closes {last:?}");
                            self.complaints.borrow_mut().push(complaint);
                        }
                    }
                }
            }
            Token::ParseError(what) => self.complaints.borrow_mut().push(what.to_string()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[test]
fn a_page_is_valid_and_loads_nothing() {
    let learner = with_explanations();
    learner.run("start v05");
    fs::write(
        learner.path("my/v05.cu"),
        "void f()\n{\n  if (a < b && \"</td>\") x;\n}\n",
    )
    .expect("a file");
    let (code, out) = said(&learner, "explain v05 --html page.html", "");
    assert_eq!((code, out.as_str()), (0, "wrote page.html\n"));
    let page = learner.read("page.html");
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page.as_str()));
    let tokenizer = Tokenizer::new(Seen::default(), Default::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let seen = &tokenizer.sink;
    assert_eq!(seen.complaints.borrow().join("\n"), "");
    assert_eq!(seen.open.borrow().join(" "), "");
    let attributes = seen.attributes.borrow();
    let of = |name: &'static str| {
        attributes
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| value)
    };
    assert!(of("src").next().is_none());
    for target in of("href") {
        let id = target.strip_prefix('#').expect("a place in the page");
        assert!(of("id").any(|known| known == id), "{target}");
    }
    for word in ["http:", "https:", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(word), "{word}");
    }
    for word in [
        "&lt;/td&gt;",
        "prefers-color-scheme: dark",
        "@media print",
        "tabindex=\"0\"",
        "scope=\"col\"",
    ] {
        assert!(page.contains(word), "{word}");
    }

    let (code, _) = said(
        &learner,
        "explain v05 --html nowhere/page.html",
        "error: writing nowhere/page.html",
    );
    assert_eq!(code, 3);
}

#[test]
fn what_cannot_be_explained_says_why() {
    let learner = Learner::new();
    let cases = [
        (
            "explain v05.wide",
            3,
            "there is no my/v05.wide.cu; begin with: xtask start v05.wide",
        ),
        (
            "explain v05.wide --finished",
            3,
            "after: xtask solution v05.wide --give-up",
        ),
        ("explain v05 --by nonsense", 2, "the columns are instructions, "),
        (
            "explain v05",
            3,
            "there is no PTX of kernels/v05_x.cu; make it with: xtask ptx kernels/v05_x.cu",
        ),
    ];
    for (words, expected, note) in cases {
        let (code, out) = said(&learner, words, note);
        assert_eq!((code, out.as_str()), (expected, ""), "{words}");
    }
    learner.run("start v05");
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    let (code, _) = said(
        &learner,
        "explain v05",
        "it does not compile: my/v05.cu:7: expected ';'",
    );
    assert_eq!(code, 1);
}

#[test]
fn questions_are_answered_on_the_command_line_and_from_a_pipe() {
    let learner = Learner::new();
    let (code, out) = said(&learner, "predict v05", "");
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "lanes\n  How many lanes has a warp?\n\nbanks\n  Which lanes conflict?\n    a  Those of one bank\n    \
             b  Those of one word\n\nnext: xtask predict v05 lanes=NUMBER\n"
        )
    );
    let (code, out) = said(&learner, "predict v05 lanes=31 banks=a", "");
    assert_eq!(
        (code, out.as_str()),
        (
            1,
            "lanes: wrong, it is not 31\nbanks: right, Those of one bank. One word goes to all.\n"
        )
    );
    // Nothing gives an answer away that nobody has found or asked for.
    for words in ["predict v05", "predict v05 --json", "predict v05 --count"] {
        let out = learner.run(words).1;
        assert!(
            !out.contains("32") && !out.contains("So it is built"),
            "{words}: {out}"
        );
    }
    let mut piped = learner
        .command("predict v05")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = piped.stdin.take().expect("piped");
    stdin
        .write_all(b"# mine\nlanes = 64/2\n\nbanks=\n")
        .expect("a pipe");
    drop(stdin);
    let (code, out, _) = told(&piped.wait_with_output().expect("it ends"));
    assert_eq!(code, 0);
    assert!(
        out.ends_with("lanes: right, 64/2. So it is built.\nbanks: skipped\n"),
        "{out}"
    );
    let progress = learner.read("my/progress.toml");
    assert!(
        progress.contains("tries = 2") && progress.contains("answer = \"64/2\""),
        "{progress}"
    );
    let (code, out) = said(&learner, "predict v05 lanes --json", "");
    let value: Value = serde_json::from_str(&out).expect("one record");
    let question = &value["question"];
    assert_eq!(
        (code, &question["state"], &question["answer"]),
        (0, &"right".into(), &32.0.into())
    );
}

#[test]
fn questions_come_back_and_answers_are_shown_on_request() {
    let learner = Learner::new();
    let (code, out) = said(&learner, "predict v07", "");
    assert!(
        code == 0 && out.starts_with("v05.banks  (v05 asked it first)\n"),
        "{out}"
    );
    let (code, out) = said(&learner, "predict v07 v05.banks --show", "");
    assert!(
        code == 0 && out.contains("\n  answer: Those of one bank. One word goes to all.\n"),
        "{out}"
    );
    assert!(
        learner
            .read("my/progress.toml")
            .contains("[questions.\"v05.banks@v07\"]\n")
    );
    assert_eq!(learner.run("predict v07 banks=1").0, 0);

    let cases = [
        (
            "predict v05 nonsense=1",
            "v05 has no question `nonsense`; it has lanes, banks",
        ),
        ("predict v05 lanes=many", "lanes: `many` is no number"),
        ("predict v05 banks=z", "banks: `z` is none of the choices a to b"),
        ("predict v99", "there is no step `v99`"),
        ("predict", "required arguments"),
    ];
    for (words, note) in cases {
        let (code, out) = said(&learner, words, note);
        assert_eq!((code, out.as_str()), (2, ""), "{words}");
    }
    assert_eq!(
        said(&learner, "predict v00", ""),
        (0, "v00 has no questions\n".into())
    );
}

#[test]
fn bare_xtask_shows_the_ladder_and_the_next_action() {
    let learner = Learner::new();
    let next = |learner: &Learner| {
        let (code, out, _) = learner.run("");
        assert_eq!(code, 0);
        let next = out.split_once("\nNext\n").map_or("", |(_, next)| next);
        let row = out
            .lines()
            .find(|line| line.starts_with("  v05 "))
            .unwrap_or_default();
        let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = next.lines().next().unwrap_or_default().trim();
        (row, first.split("  ").next().unwrap_or_default().to_owned())
    };
    let row = |state: &str, questions: &str| format!("v05 bank-conflict-free {state} 0 of 2 {questions}");
    assert_eq!(
        next(&learner),
        (row("not started", "0 of 2"), "xtask start v05".into())
    );
    learner.run("start v05");
    assert_eq!(next(&learner).1, "xtask check v05");
    learner.verdict(&conflicts());
    learner.run("check v05");
    assert_eq!(
        next(&learner),
        (row("started: no-excess", "0 of 2"), "xtask hint v05".into())
    );
    fs::write(learner.path("my/v05.cu"), "// better\n").expect("a file");
    assert_eq!(next(&learner).1, "xtask check v05");
    learner.verdict(&passed());
    learner.run("check v05");
    assert_eq!(next(&learner).1, "xtask predict v05");
    learner.run("predict v05 lanes=32 banks=");
    let (line, command) = next(&learner);
    assert!(line.contains("passed ") && line.ends_with("1 of 2"), "{line}");
    assert_eq!(command, "xtask start v05.wide");

    fs::write(learner.path("my/progress.toml"), "half a\n").expect("a file");
    assert_eq!(said(&learner, "", "my/progress.toml:1: ").0, 0);
    fs::write(learner.path("steps/v05/tasks.toml"), "what = 1\n").expect("a file");
    assert_eq!(
        said(&learner, "", "steps/v05/tasks.toml:1: unknown field `what`").0,
        0
    );
}

#[test]
fn who_fails_three_times_in_the_same_way_is_sent_to_a_hint() {
    let learner = Learner::new();
    learner.run("start v05");
    learner.verdict(&conflicts());
    let next: Vec<String> = (0..3)
        .map(|_| {
            learner
                .run("check v05")
                .1
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let change = "next: change my/v05.cu, then: xtask check v05";
    assert_eq!(next, [change, change, "next: xtask hint v05"]);
    learner.run("hint v05");
    assert!(learner.run("check v05").1.contains(change));
}

#[test]
fn a_copy_is_checked_again_when_it_changes_until_an_interrupt() {
    let learner = Learner::new();
    assert_eq!(said(&learner, "watch v05", "begin with: xtask start v05").0, 3);
    learner.run("start v05");
    learner.verdict(&conflicts());
    let mut child = learner
        .command("watch v05")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (mut out, mut err) = (
        BufReader::new(child.stdout.take().expect("piped")),
        BufReader::new(child.stderr.take().expect("piped")),
    );
    fn until(stream: &mut impl BufRead, words: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(words) {
            assert!(
                stream.read_line(&mut seen).expect("text") > 0,
                "no `{words}` in: {seen}"
            );
        }
        seen
    }
    let first = until(&mut out, "next: change my/v05.cu");
    assert!(
        first.starts_with("my/v05.cu: ") && first.contains("failed   no-excess"),
        "{first}"
    );
    // What does not compile, and what is gone for a moment, does not end it.
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    until(&mut out, "failed   compiles");
    fs::remove_file(learner.path("my/v05.cu")).expect("a file");
    until(&mut err, "my/v05.cu is gone; waiting for it\n");
    learner.verdict(&passed());
    fs::write(learner.path("my/v05.cu"), "done();\n").expect("a file");
    let last = until(&mut out, "next: xtask start v05.wide\n");
    // SAFETY: our own child, which has not been waited for.
    unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) };
    let (mut rest, mut errors) = (String::new(), String::new());
    out.read_to_string(&mut rest).expect("text");
    err.read_to_string(&mut errors).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{errors}");
    assert!(
        errors.ends_with("interrupted; 3 checks of my/v05.cu\n"),
        "{errors}"
    );
    assert!(![first, last, rest, errors].concat().contains('\x1b'));
    assert!(learner.read("my/progress.toml").contains("checks = 3"));
}

#[test]
fn without_a_compiler_and_in_a_checkout_that_cannot_be_written() {
    let learner = with_explanations();
    learner.run("start v05");
    learner.verdict(&conflicts());
    learner.run("check v05");
    fs::write(learner.path("my/v05.cu"), "// other\n").expect("a file");
    let without = |words: &str| {
        let mut command = learner.command(words);
        command.env("TILE_COMPILER", "nvrtc");
        told(&command.output().expect("it starts"))
    };
    let (code, _, err) = without("explain v05");
    assert!(code == 3 && err.contains("cargo xtask setup"), "{err}");
    for words in ["hint v05", "predict v05 lanes=32", "explain v05 --finished", ""] {
        let (code, _, err) = without(words);
        assert_eq!(code, 0, "{words}: {err}");
    }

    let folders = ["my", "."].map(|name| learner.path(name));
    let mode = |mode| {
        for folder in &folders {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("a mode");
        }
    };
    mode(0o555);
    // The superuser writes everywhere.
    if fs::write(learner.path("my/probe"), "").is_err() {
        for words in ["hint v05 --more", "predict v05 lanes=32"] {
            let (code, out) = said(
                &learner,
                words,
                "your progress is not recorded: my/progress.toml: ",
            );
            assert!(code == 0 && !out.is_empty(), "{words}");
        }
        for words in ["", "explain v05", "predict v05"] {
            assert_eq!(learner.run(words).0, 0, "{words}");
        }
    }
    mode(0o755);
}

#[test]
fn a_checkout_without_solutions_explains_and_hints() {
    let learner = with_explanations();
    learner.run("start v05");
    fs::remove_file(learner.path("kernels/v05_x.cu")).expect("a file");
    let (code, out, err) = learner.run("explain v05");
    assert!(
        code == 0 && !out.contains("finished") && !err.contains("kernels/v05_x"),
        "{out}{err}"
    );
    let (code, out) = said(&learner, "hint v05 --more --more", "");
    assert!(
        code == 0 && out.ends_with("a nudge (1 of 1): Go in rounds.\n\nthat is all\n"),
        "{out}"
    );
    let (code, out) = said(&learner, "hint v05.wide", "");
    assert!(
        code == 0 && out.contains("(1 of 1): the first lines that your copy lacks\n\nvoid g() {}\n"),
        "{out}"
    );
    fs::remove_file(learner.path("steps/v05/tasks/wide.cu")).expect("a file");
    assert_eq!(
        said(&learner, "hint v05.wide", "").1,
        "v05.wide has no hints\nnext: xtask check v05.wide\n"
    );
}

#[test]
fn a_task_for_the_host_has_hints_and_no_lines() {
    let learner = Learner::new();
    let note = "v05.launch is about the host and has no kernel to explain; its answer is checked with: xtask check v05.launch";
    assert_eq!(said(&learner, "explain v05.launch", note), (2, String::new()));
    assert_eq!(said(&learner, "hint v05.launch", "").0, 0);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let learner = with_explanations();
    learner.run("start v05");
    for words in ["hint v05", "explain v05", "predict v05", ""] {
        let mut child = learner
            .command(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
}
