//! The questions of a step: its own, and those that return from earlier steps.

use crate::progress::{Progress, QuestionProgress};
use crate::task::{Answer, Catalogue, Question};

/// A question in the quiz of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked<'a> {
    pub step: &'a str,
    /// The later step in which it returns; none in its own step.
    pub again: Option<&'a str>,
    pub question: &'a Question,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionState {
    Open,
    /// Answered correctly at last.
    Right,
    /// Answered wrongly at last.
    Wrong,
    Skipped,
}

impl QuestionState {
    /// Returns the result as one word, such as `right`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Skipped => "skipped",
        }
    }
}

/// Returns the questions of a step, its own first.
pub fn of_step<'a>(catalogues: &'a [Catalogue], step: &str) -> Vec<Asked<'a>> {
    let (mut own, mut back) = (Vec::new(), Vec::new());
    for catalogue in catalogues {
        for question in &catalogue.questions {
            let asked = Asked { step: &catalogue.step, again: None, question };
            if catalogue.step == step {
                own.push(asked);
            } else if question.again.as_deref() == Some(step) {
                let again = question.again.as_deref();
                back.push(Asked { again, ..asked });
            }
        }
    }
    own.extend(back);
    own
}

/// Finds a question by its id, `wavefronts`, or its full name, `v05.wavefronts`, which distinguishes a returning
/// question from one of the step with the same id.
pub fn find<'a, 'b>(asked: &'b [Asked<'a>], name: &str) -> Option<&'b Asked<'a>> {
    let full = asked.iter().find(|asked| asked.full_name() == name);
    full.or_else(|| asked.iter().find(|asked| asked.question.id == name))
}

impl Asked<'_> {
    /// Returns the step and id, such as `v05.wavefronts`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.step, self.question.id)
    }

    /// Returns the name on the command line of the step whose quiz it is in.
    pub fn name(&self) -> String {
        match self.again {
            Some(_) => self.full_name(),
            None => self.question.id.clone(),
        }
    }

    /// Returns the key in the progress file.
    pub fn key(&self) -> String {
        match self.again {
            Some(step) => format!("{}@{step}", self.full_name()),
            None => self.full_name(),
        }
    }

    pub fn progress(&self, progress: &Progress) -> QuestionProgress {
        progress.questions.get(&self.key()).cloned().unwrap_or_default()
    }

    pub fn state(&self, progress: &Progress) -> QuestionState {
        match progress.questions.get(&self.key()) {
            None => QuestionState::Open,
            Some(known) => match known.right {
                Some(true) => QuestionState::Right,
                Some(false) => QuestionState::Wrong,
                None if known.last.is_some() => QuestionState::Skipped,
                None => QuestionState::Open,
            },
        }
    }
}

impl Answer {
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Choice(text) => text.clone(),
        }
    }
}

/// Returns the letter of a choice, `a` for the first one.
pub fn letter(at: usize) -> char {
    char::from(b'a' + u8::try_from(at.min(25)).unwrap_or(25))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V05: &str = r#"
[[why]]
id = "wavefronts"
question = "How many?"
answer = 0.125
because = "Eight lanes."
again = "v07"
[[why]]
id = "padding"
question = "Which?"
choices = ["1 float", "4 floats"]
answer = "4 floats"
because = "So."
"#;
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
}
