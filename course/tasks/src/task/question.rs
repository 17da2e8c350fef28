//! A "why" question, and which answers to it are right.

use serde::{Deserialize, Serialize};

use crate::measure::Measure;

/// A question about the reason for something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Name within the step, which progress files use; it never changes.
    pub id: String,
    /// Text of the question.
    pub question: String,
    /// The right answer, a number or a choice.
    pub answer: Answer,
    /// Texts to choose from; none for a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How far from the number an answer may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The explanation, shown after an answer.
    pub because: String,
    /// Where the number can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derive: Option<Derived>,
    /// Step in which it comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// An answer: a number, or the text of one of the choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// The answer of a numeric question.
    Number(f64),
    /// The right choice of a multiple-choice question.
    Choice(String),
}

impl Question {
    /// Whether an answer is right, given as a number, as the text of a choice, or as its letter or number.
    pub fn accepts(&self, given: &str) -> bool {
        let given = given.trim();
        match &self.answer {
            Answer::Number(right) => {
                number(given).is_some_and(|given| (given - right).abs() <= self.within.unwrap_or(0.0) + 1e-9)
            }
            Answer::Choice(right) => self.chosen(given).is_some_and(|choice| choice == right),
        }
    }

    /// Whether it is an answer at all: a number, or one of the choices.
    pub fn understands(&self, given: &str) -> bool {
        match self.answer {
            Answer::Number(_) => number(given).is_some(),
            Answer::Choice(_) => self.chosen(given.trim()).is_some(),
        }
    }

    /// The choice that somebody names by its text, its letter (`a`) or its number (`1`).
    pub fn chosen(&self, given: &str) -> Option<&String> {
        let by_text = self
            .choices
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(given));
        by_text.or_else(|| {
            let mut letters = given.chars();
            let index = match (letters.next()?, letters.next()) {
                (letter @ 'a'..='z', None) => letter as usize - 'a' as usize,
                (letter @ 'A'..='Z', None) => letter as usize - 'A' as usize,
                _ => given.parse::<usize>().ok()?.checked_sub(1)?,
            };
            self.choices.get(index)
        })
    }
}

/// A number, `0.125`, `0,125`, or a quotient of two, `1/8`.
fn number(text: &str) -> Option<f64> {
    let one = |text: &str| text.trim().replace(',', ".").parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((a, b)) => one(a)? / one(b)?,
        None => one(text)?,
    };
    value.is_finite().then_some(value)
}

/// How the emulated GPU counts the answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Entry point of a kernel of the ladder.
    pub kernel: String,
    /// The measure whose value is the answer.
    pub measure: Measure,
    /// Sizes of the launch, as in [`super::Criterion::shape`].
    pub shape: Vec<usize>,
    /// Depth of a step of the k loop, as in [`super::Criterion::bk`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
}
