//! Tasks and questions of a catalogue in pages, sheets, lessons and slides.

use crate::books::{Small, text_of};
use crate::errors::errors;

const TASKS: &str = include_str!("data/tasks.toml");
const LESSONS: &str = include_str!("data/lessons.toml");

fn small(chapter: &str) -> Small {
    Small::new(chapter).with("steps/v02/tasks.toml", TASKS).with("book/lessons.toml", LESSONS)
}

fn words(chapter: &str) -> String {
    text_of(&small(chapter).page())
}

#[test]
fn a_task_says_what_to_do_and_how_to_begin() {
    insta::assert_snapshot!(words("{{#task v02}}"));
}

#[test]
fn names_of_the_code_are_code_and_signs_are_no_marks() {
    let page = small("{{#task v02}}").page();
    insta::assert_snapshot!(page.lines().next().unwrap_or_default(), @"<p>Load <code>a_tile[row][k]</code>, 4 × 4 elements * 2.");
}

#[test]
fn criteria_have_their_limits_and_the_reason_for_them() {
    insta::assert_snapshot!(words("{{#judged v02}}"));
}

#[test]
fn a_solution_is_folded_until_its_task_is_passed() {
    let small = small("{{#finished v02}}\n\nIt is this.\n\n</details>");
    assert!(
        small.page().contains("<details><summary>The finished kernel, a solution of v02: open it"),
        "{}",
        small.page()
    );
    let passed = small.with("my/progress.toml", "[tasks.v02]\nchecks = 1\npassed = \"2026-11-22T12:00:00Z\"\n").page();
    assert!(
        passed.contains("<details open=\"\"><summary>The finished kernel, a solution of v02, which you have passed"),
        "{passed}"
    );
}

#[test]
fn transfer_tasks_are_folded() {
    insta::assert_snapshot!(words("{{#transfers v02}}"));
}

#[test]
fn a_task_on_the_host_is_no_kernel() {
    let host = include_str!("data/host_task.toml");
    let small = small("{{#task v02.launch}}\n\n{{#transfers v02 launch}}")
        .with("steps/v02/tasks.toml", &format!("{TASKS}\n{host}"));
    let page = small.page();
    for words in ["<code>my/v02.launch.toml</code>", "<code>op(a)</code>", "every element of the result is right"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("scaled"), "{page}");
}

#[test]
fn questions_have_their_answers_folded() {
    insta::assert_snapshot!(words("{{#predict v02}}"));
    insta::assert_snapshot!(words("{{#predict v02 barrier}}"));
}

#[test]
fn a_question_comes_back_in_a_later_step() {
    let later = "[[why]]\nid = \"one\"\nquestion = \"One?\"\nanswer = 1\nbecause = \"So.\"\n";
    let page = small("{{#predict v04}}").with("steps/v04/tasks.toml", later).page();
    for part in ["Again, from v02.", "data-question=\"v02.words@v04\" data-answer=\"2\""] {
        assert!(page.contains(part), "{page}");
    }
}

#[test]
fn sheets_have_no_answers() {
    let sheets = words("{{#sheets}}");
    insta::assert_snapshot!(sheets);
    assert!(!sheets.contains("One of each"));
}

#[test]
fn answers_are_in_a_table() {
    insta::assert_snapshot!(words("{{#answers}}"), @r"
    step |question |answer |again in |
    v02 |1. words |2 |v04 |
    v02 |2. barrier |(b) Writes | |
    ");
}

#[test]
fn mistakes_have_what_to_ask() {
    insta::assert_snapshot!(words("{{#mistakes v02}}"), @r"
    code |ask |wrong kernels that the tests hold |
    traffic |Threads load again what others have. Who loads A[0][0]? | |
    E-RACE |Which two lines? | |
    ");
}

#[test]
fn a_task_gets_the_time_that_a_session_leaves() {
    insta::assert_snapshot!(words("{{#lesson v02}}"));
}

#[test]
fn a_plan_adds_up_minutes_at_home() {
    // The sheets that it links are a page of the real book.
    insta::assert_snapshot!(words("{{#plan short}}"), @r"
    session |sheets |what |tasks in class |at home |
    1 |v02 |Everything. |v02 (45) |v02.scaled (25) |
    In class 1 × 90 minutes, at home about 25.
    ");
}

#[test]
fn slides_have_questions_and_tasks() {
    let small = small("{{#task v02}}\n\n{{#predict v02}}");
    let made = small.make().expect("a book without mistakes");
    let slides = std::fs::read_to_string(made.folder.join("slides.html")).expect("slides");
    for words in ["cargo xtask start v02", "How many words of a_tile?", "One of each.", "<li>Reads</li>"] {
        assert!(slides.contains(words), "{words}");
    }
    assert!(!slides.contains("http"));
    let without = Small::new("No task.");
    let made = without.make().expect("a book without mistakes");
    assert!(!made.folder.join("slides.html").exists());
}

#[test]
fn what_is_not_there_is_named() {
    for (chapter, why) in errors("tasks") {
        small(&chapter).refuses(&why);
    }
}

#[test]
fn a_session_is_as_long_as_its_parts() {
    let lessons = LESSONS.replace("minutes = 30", "minutes = 90");
    small("{{#lesson v02}}").with("book/lessons.toml", &lessons).refuses(
        "the parts of the lesson for v02 take 90 minutes, and 1 of them have none; a session has 90, and one part takes what is left",
    );
}

#[test]
fn a_catalogue_that_makes_no_sense_is_named() {
    let small = small("{{#task v02}}").with("steps/v02/tasks.toml", "[rebuild]\nsauce = 1\n");
    assert!(small.problems(false).starts_with("book/src/chapter.md:3: steps/v02/tasks.toml:"));
}

#[test]
fn chapters_ask_every_question_of_their_step() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let files = std::fs::read_dir(root.join("book/src")).expect("pages").map(|file| file.expect("a file").path());
    let pages: String = files.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    let all: Vec<_> = catalog::STEPS.iter().map(|step| tasks::Catalogue::load(root, step.id).expect("tasks")).collect();
    for step in catalog::STEPS.iter().map(|step| step.id) {
        let asked =
            || pages.lines().filter_map(|line| line.strip_prefix(&format!("{{{{#predict {step}"))?.strip_suffix("}}"));
        for posed in tasks::quiz::of_step(&all, step) {
            let name = posed.again.map_or(posed.question.id.clone(), |_| posed.full_name());
            let is_asked = asked().any(|ids| ids.is_empty() || ids.split(' ').any(|id| id == name));
            assert!(is_asked, "no page of {step} asks {name}");
        }
    }
}
