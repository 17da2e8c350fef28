//! Points that a person gives, in place of the grader's or for what only a person can judge.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tasks::TomlError;

use crate::score::{self, Item};
use crate::submissions::flat;

/// Points by student and item. A student's key is a name, an id or a code.
pub type GivenPoints = BTreeMap<String, BTreeMap<String, f64>>;

/// Reads a file of points: a table for each student, in which `"v02.right" = 3` or `report = 4`.
pub fn parse(text: &str, file: &str) -> Result<GivenPoints> {
    let parsed: toml::Table =
        TomlError::read(text).map_err(|TomlError { line, why }| anyhow!("{file}:{line}: {why}"))?;
    let of_student = |(student, table): (String, toml::Value)| {
        let toml::Value::Table(items) = table else {
            bail!("{file}: {student}: a table of points, as [{student}]");
        };
        let points = flat(items).into_iter().map(|(id, value)| match value {
            toml::Value::Integer(points) => Ok((id, points as f64)),
            toml::Value::Float(points) if points.is_finite() => Ok((id, points)),
            _ => Err(anyhow!("{file}: {student}: {id}: a number of points")),
        });
        Ok((student.clone(), points.collect::<Result<_>>()?))
    };
    parsed.into_iter().map(of_student).collect()
}

/// Sets the points of a student's items to those that a person gives, and returns their sum.
pub(crate) fn give(given: &BTreeMap<String, f64>, name: &str, items: &mut [Item]) -> Result<f64> {
    for (id, &points) in given {
        let item = items.iter_mut().find(|item| item.id == *id);
        let unknown = || format!("points by hand for `{}`, which the rubric does not have", crate::plain(id));
        let item = item.with_context(unknown)?;
        let max = item.max;
        ensure!((0.0..=max).contains(&points), "points by hand: {name}: {id}: {points} is not from 0 to {max}");
        score::give(item, points);
    }
    Ok(given.values().sum())
}
