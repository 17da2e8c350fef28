//! Points that a person gives, in place of the grader's or for what only a person can judge.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tasks::TomlError;

use crate::score::{self, Item};
use crate::submissions::flat;

/// Points by student and item. A student's key is a name, an id or a code.
pub type GivenPoints = BTreeMap<String, BTreeMap<String, f64>>;

#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PointsError {
    #[error("{0}")]
    Syntax(String),
    #[error("points by hand for `{0}`, who is not among the students")]
    UnknownStudent(String),
    #[error("points by hand for `{0}`, which the rubric does not have")]
    UnknownItem(String),
    #[error("points by hand: {name}: {id}: {points} is not from 0 to {max}")]
    OutOfRange { name: String, id: String, points: f64, max: f64 },
}

/// Reads a file of points: a table for each student, in which `"v02.right" = 3` or `report = 4`.
pub fn parse(text: &str, file: &str) -> Result<GivenPoints, PointsError> {
    let wrong = |why: String| PointsError::Syntax(format!("{file}{why}"));
    let parsed: toml::Table =
        TomlError::read(text).map_err(|TomlError { line, why }| wrong(format!(":{line}: {why}")))?;
    let of_student = |(student, table): (String, toml::Value)| {
        let toml::Value::Table(items) = table else {
            return Err(wrong(format!(": {student}: a table of points, as [{student}]")));
        };
        let points = flat(items).into_iter().map(|(id, value)| match value {
            toml::Value::Integer(points) => Ok((id, points as f64)),
            toml::Value::Float(points) if points.is_finite() => Ok((id, points)),
            _ => Err(wrong(format!(": {student}: {id}: a number of points"))),
        });
        Ok((student.clone(), points.collect::<Result<_, _>>()?))
    };
    parsed.into_iter().map(of_student).collect()
}

/// Sets the points of a student's items to those that a person gives, and returns their sum.
pub(crate) fn give(given: &BTreeMap<String, f64>, name: &str, items: &mut [Item]) -> Result<f64, PointsError> {
    for (id, &points) in given {
        let item = items.iter_mut().find(|item| item.id == *id);
        let item = item.ok_or_else(|| PointsError::UnknownItem(crate::plain(id)))?;
        if !(0.0..=item.max).contains(&points) {
            let (name, id, max) = (name.to_owned(), id.clone(), item.max);
            return Err(PointsError::OutOfRange { name, id, points, max });
        }
        score::give(item, points);
    }
    Ok(given.values().sum())
}
