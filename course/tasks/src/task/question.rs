//! Questions about reasons, and the check of answers.

use std::collections::BTreeMap;

use catalog::Shape;
use serde::{Deserialize, Serialize};

use super::criterion::shape_of;
use crate::{drawn::DrawnQuestion, measure::Measure};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Name within the step; it never changes, because progress files contain it.
    pub id: String,
    pub question: String,
    pub answer: Answer,
    /// Texts to choose from; none for a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Tolerance of a numeric answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Explanation shown after an answer.
    pub because: String,
    /// Replies to expected wrong answers, by the number or the letter; none says the right one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slips: BTreeMap<String, String>,
    /// Launch on which the emulated GPU counts the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derive: Option<Derived>,
    /// Later step in which the question returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// Text and answer for numbers that are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<DrawnQuestion>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    Number(f64),
    /// Text of one of the choices.
    Choice(String),
}

/// Share of a drawn answer by which a given one may differ: three digits are enough.
const TOLERANCE: f64 = 0.005;

impl Question {
    /// Returns the question with the numbers that are drawn for a student, where they are; `name` is its own with the
    /// step, and `number` that of the assignment.
    pub fn drawn(&self, number: u32, name: &str, student: &str) -> Option<Self> {
        let (question, answer) = self.variant.as_ref()?.draw(number, name, student)?;
        let within = Some(answer.abs() * TOLERANCE);
        Some(Self { question, answer: Answer::Number(answer), within, ..self.clone() })
    }

    /// Returns whether an answer is right: a number, or the text, letter or number of a choice.
    pub fn accepts(&self, given: &str) -> bool {
        let given = given.trim();
        match &self.answer {
            Answer::Number(right) => self.is_near(given, *right),
            Answer::Choice(right) => self.chosen(given).is_some_and(|choice| choice == right),
        }
    }

    /// Returns whether a numeric answer is this number, within the tolerance.
    fn is_near(&self, given: &str, value: f64) -> bool {
        number(given).is_some_and(|given| (given - value).abs() <= self.within.unwrap_or(0.0) + 1e-9)
    }

    /// Returns the feedback on an answer that is wrong in an expected way.
    pub fn slip(&self, given: &str) -> Option<&str> {
        let same = |slip: &str| match self.answer {
            Answer::Number(_) => number(slip).is_some_and(|slip| self.is_near(given, slip)),
            Answer::Choice(_) => self.chosen(slip).is_some() && self.chosen(slip) == self.chosen(given.trim()),
        };
        self.slips.iter().find(|(slip, _)| same(slip)).map(|(_, text)| text.as_str())
    }

    /// Returns whether an answer is well-formed: a number, or one of the choices.
    pub fn understands(&self, given: &str) -> bool {
        match self.answer {
            Answer::Number(_) => number(given).is_some(),
            Answer::Choice(_) => self.chosen(given.trim()).is_some(),
        }
    }

    /// Returns the choice with the given text, letter (`a`, `B)`, `(c)`) or number (`1.`).
    pub fn chosen(&self, given: &str) -> Option<&String> {
        let by_text = self.choices.iter().find(|choice| choice.eq_ignore_ascii_case(given));
        by_text.or_else(|| {
            let given = given.trim_matches(|c: char| "(). ".contains(c));
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

/// Parses a number: `0.125`, `0,125`, or a quotient, `1/8`.
fn number(text: &str) -> Option<f64> {
    let parse = |text: &str| text.trim().replace(',', ".").parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((a, b)) => parse(a)? / parse(b)?,
        None => parse(text)?,
    };
    value.is_finite().then_some(value)
}

/// The launch and the measure from which the emulated GPU counts an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Entry point of a step's kernel.
    pub kernel: String,
    pub measure: Measure,
    /// Sizes of the launch, as in [`super::Criterion::shape`].
    pub shape: Vec<usize>,
    /// Depth of a step of the k loop, as in [`super::Criterion::bk`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
}

impl Derived {
    pub fn shape(&self) -> Shape {
        shape_of(&self.shape)
    }
}
