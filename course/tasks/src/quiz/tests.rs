use super::*;

const V05: &str = include_str!("questions.toml");
const V07: &str = "[[why]]\nid = \"wavefronts\"\nquestion = \"And now?\"\nanswer = 2\nbecause = \"Two.\"\n";

fn catalogues() -> Vec<Catalogue> {
    [("v05", V05), ("v07", V07)]
        .map(|(step, text)| Catalogue::parse(text, step, "tasks.toml").expect("a catalogue"))
        .to_vec()
}

#[test]
fn questions_come_back_under_a_name_of_their_own() {
    let catalogues = catalogues();
    let asked = of_step(&catalogues, "v07");
    let names: Vec<String> = asked.iter().map(Asked::name).collect();
    assert_eq!(names, ["wavefronts", "v05.wavefronts"]);
    let key = |name| find(&asked, name).map(Asked::key);
    assert_eq!(key("wavefronts").as_deref(), Some("v07.wavefronts"));
    assert_eq!(key("v05.wavefronts").as_deref(), Some("v05.wavefronts@v07"));
    assert_eq!(key("padding"), None);
    assert_eq!(of_step(&catalogues, "v05").len(), 2);
}

#[test]
fn answers_are_numbers_quotients_texts_and_letters() {
    let catalogues = catalogues();
    let asked = of_step(&catalogues, "v05");
    let [number, choice] = [asked[0].question, asked[1].question];
    for (given, right) in [("0.125", true), ("1/8", true), (" 0,125 ", true), ("8", false)] {
        assert!(number.understands(given), "{given}");
        assert_eq!(number.accepts(given), right, "{given}");
    }
    for given in ["", "many", "1/0", "nan", "inf"] {
        assert!(!number.understands(given), "{given}");
    }
    for (given, right) in [("b", true), ("4 Floats", true), ("a", false), ("2", true)] {
        assert!(choice.understands(given), "{given}");
        assert_eq!(choice.accepts(given), right, "{given}");
    }
    assert_eq!(["1/2", "8"].map(|given| number.slip(given)), [Some("Of two."), None]);
    assert_eq!(["1 Float", "b"].map(|given| choice.slip(given)), [Some("They meet."), None]);
    assert!(!choice.understands("c") && !choice.understands(""));
}

#[test]
fn a_state_is_that_of_the_last_answer() {
    let catalogues = catalogues();
    let asked = of_step(&catalogues, "v05");
    let mut progress = Progress::default();
    assert_eq!(asked[0].state(&progress), QuestionState::Open);
    progress.answered(&asked[0].key(), None, 1000);
    assert_eq!(asked[0].state(&progress), QuestionState::Skipped);
    progress.answered(&asked[0].key(), Some(("8", false)), 1000);
    assert_eq!(asked[0].state(&progress), QuestionState::Wrong);
    progress.showed(&asked[1].key(), 1000);
    assert_eq!(asked[1].state(&progress), QuestionState::Open);
}
