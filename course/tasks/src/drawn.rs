//! Questions whose numbers are drawn for each student, because the book has the answers to the others.
//!
//! The table `[why.variant]` of a question has another text and the answer as an expression; expressions in braces are
//! those of [`crate::variant`]:
//!
//! ```toml
//! [why.variant]
//! question = "A thread owns {TM} × {TN} elements of C. How many words does it read for each multiply-add?"
//! answer = "(TM + TN) / (TM * TN)"
//! book = { TM = 8, TN = 8 }
//! points = [{ TM = 4, TN = 8 }, { TM = 2, TN = 16 }]
//! ```
//!
//! A repository made by `assign` has the texts of all points, [`DrawnTexts`], and no answer. Which of them is a
//! student's follows from a hash of the assignment's number, the question and the student's id: students find theirs
//! with `cargo xtask questions`, and the grader computes the same.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use catalog::provenance::sha256;
use serde::{Deserialize, Serialize};

use crate::variant::Filler;

/// File of [`DrawnTexts`] in the root of a repository made by `assign`.
pub const FILE: &str = "questions.toml";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnQuestion {
    question: String,
    answer: String,
    /// Numbers of the question in the book, with which the expression gives its answer. They are not drawn.
    book: BTreeMap<String, f64>,
    points: Vec<BTreeMap<String, f64>>,
}

impl DrawnQuestion {
    /// Returns the texts and answers of all points, after those with the numbers of the book.
    fn versions(&self) -> Result<Vec<(String, f64)>, String> {
        let version = |numbers: &BTreeMap<String, f64>| {
            let names = numbers.iter().map(|(name, number)| (name.as_str(), *number)).collect();
            let filler = Filler { point: None, names };
            Ok((filler.text(&self.question)?, filler.number(&self.answer)?))
        };
        [&self.book].into_iter().chain(&self.points).map(version).collect()
    }

    /// Returns the texts of all points.
    pub fn texts(&self) -> Vec<String> {
        self.versions().unwrap_or_default().into_iter().skip(1).map(|(text, _)| text).collect()
    }

    /// Returns the text and the answer that are drawn for a student, as [`DrawnTexts::of`] does.
    pub(crate) fn draw(&self, number: u32, name: &str, student: &str) -> Option<(String, f64)> {
        let versions = self.versions().ok()?;
        versions[1..].get(index(number, name, student, versions.len() - 1)).cloned()
    }

    /// Returns the contradiction with the question in the book, if any; `accepts` tests an answer to that question.
    pub(crate) fn complaint(&self, accepts: impl Fn(&str) -> bool) -> Option<String> {
        /// With fewer answers, students could guess.
        const MIN_ANSWERS: usize = 5;
        let versions = match self.versions() {
            Ok(versions) => versions,
            Err(why) => return Some(format!("variant: {why}")),
        };
        let texts = catalog::distinct(versions.iter().map(|(text, _)| text));
        let answers = catalog::distinct(versions[1..].iter().map(|(_, answer)| answer));
        if texts.len() < versions.len() {
            Some("variant: two points give the same text".into())
        } else if !accepts(&versions[0].1.to_string()) {
            Some(format!("variant: with the numbers of the book its answer is {}", versions[0].1))
        } else if answers.len() < MIN_ANSWERS {
            Some(format!("variant: its points have {} different answers, and {MIN_ANSWERS} are needed", answers.len()))
        } else {
            None
        }
    }
}

/// Texts of the questions of an assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnTexts {
    /// Number of the assignment, which is public.
    pub number: u32,
    /// Texts of all points by the names of the questions, such as `v02.sectors`.
    pub texts: BTreeMap<String, Vec<String>>,
}

impl DrawnTexts {
    /// Returns the questions of a student by name. Upper case, spaces and signs in the id do not count.
    pub fn of(&self, student: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().filter_map(move |(name, texts)| {
            let text = texts.get(index(self.number, name, student, texts.len()))?;
            Some((name.as_str(), text.as_str()))
        })
    }
}

fn index(number: u32, question: &str, student: &str, n: usize) -> usize {
    let hash = sha256(format!("{number} {question} {}", key(student)).as_bytes());
    let hash = usize::from_str_radix(&hash[..8], 16).unwrap_or_default();
    hash.checked_rem(n).unwrap_or_default()
}

/// Returns a name without case, spaces and signs.
pub fn key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
