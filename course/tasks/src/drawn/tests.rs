use super::*;
use crate::{Catalogue, task::Question};

const TASKS: &str = include_str!("example.toml");

fn parse(text: &str) -> Result<Question, String> {
    let mut catalogue = Catalogue::parse(text, "v03", "tasks.toml").map_err(|why| why.to_string())?;
    Ok(catalogue.questions.remove(0))
}

#[test]
fn a_student_has_the_question_whose_answer_is_graded() {
    let question = parse(TASKS).expect("a question");
    let texts = BTreeMap::from([("v03.words".to_owned(), question.variant.as_ref().expect("a variant").texts())]);
    assert_eq!(texts["v03.words"][0], "4 × 8 elements: how many words?");
    let all = DrawnTexts { number: 7, texts };
    let mut seen = Vec::new();
    for n in 0..60 {
        let student = format!("Student-{n}");
        let drawn = question.drawn(7, "v03.words", &student).expect("numbers");
        let text = all.of(&student.to_lowercase().replace('-', " ")).next().expect("a text").1.to_owned();
        assert_eq!(text, drawn.question);
        seen.push(text);
    }
    assert_eq!(catalog::distinct(seen.clone()).len(), 5, "every point is drawn, and never the book's");
    let other = DrawnTexts { number: 8, ..all };
    assert!((0..60).any(|n| other.of(&format!("Student-{n}")).next().is_some_and(|(_, text)| text != seen[n])));
}

#[test]
fn three_digits_are_enough() {
    let question = parse(TASKS).expect("a question");
    let students = (0..60).filter_map(|n| question.drawn(7, "v03.words", &n.to_string()));
    let drawn = students.into_iter().find(|one| one.question.starts_with("6 × 8")).expect("one of them has it");
    for (answer, is_right) in [("14/48", true), ("0.292", true), ("0,2917", true), ("0.29", false), ("0.25", false)] {
        assert_eq!(drawn.accepts(answer), is_right, "{answer}");
    }
}

#[test]
fn a_variant_that_contradicts_its_question_is_refused() {
    for (from, to, why) in [
        ("(TM + TN)", "(TM - TN)", "variant: with the numbers of the book its answer is 0"),
        ("(TM + TN)", "(TM + T)", "variant: `(TM + T) / (TM * TN)`: `T` is not known; there are TM, TN,"),
        ("TM = 6", "TM = 4", "variant: two points give the same text"),
        ("TM = 6, TN = 8", "TM = 8, TN = 4", "variant: its points have 4 different answers, and 5 are needed"),
    ] {
        let error = parse(&TASKS.replace(from, to)).expect_err(to);
        assert!(error.starts_with(&format!("tasks.toml: why words: {why}")), "{error}");
    }
}
