//! The questions of a step: its own, and those that return from earlier steps.

#[cfg(test)]
mod tests;

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
    /// The last answer was right.
    Right,
    /// The last answer was wrong.
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
        if self.again.is_some() { self.full_name() } else { self.question.id.clone() }
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
