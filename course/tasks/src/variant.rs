//! Tasks whose numbers are drawn for a class, so that their answers are printed nowhere.
//!
//! A step's `[variant]` lists the points that may be drawn. Its `[variant.task]` is the table of a transfer task with
//! expressions in braces, so that thresholds follow from the drawn numbers:
//!
//! ```toml
//! [variant]
//! points = [{ BM = 16, BN = 64, BK = 32 }, { work = "sgemm_tn", BM = 32, BN = 16, BK = 16 }]
//!
//! [variant.task]
//! title = "A tile of {BM} x {BN}"
//! tile = ["{BM}", "{BN}"]
//! at_most = "{1.5 * BYTES * (1 / BM + 1 / BN)}"
//! ```
//!
//! Besides the point's numbers an expression may use `BYTES`, the bytes of an element; a text may also use `{LAYOUT}`,
//! the layout of the operands in memory, and `{ELEMENT}`, their type. A reference kernel exists for every point, and
//! passes: no task is handed out that cannot be done. With `starter = true`, learners begin with it, without its
//! `SOLUTION` regions.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use catalog::{Format, provenance::sha256};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{expression::evaluate, paths::SOLUTIONS, work::TaskWork};

/// Id of the variant task of any step.
pub const ID: &str = "variant";

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub points: Vec<Point>,
    /// Table of a transfer task, with expressions.
    task: Table,
}

/// A point that may be drawn: the computation, and numbers by their names in the reference kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    pub work: TaskWork,
    /// Sizes of tiles, blocks and other variable parts.
    #[serde(flatten)]
    pub numbers: BTreeMap<String, i64>,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = serde_json::to_value(self.work).unwrap_or_default();
        f.write_str(work.as_str().unwrap_or_default())?;
        self.numbers.iter().try_for_each(|(name, number)| write!(f, " {name}={number}"))
    }
}

/// Returns the path of a step's reference kernel, with the numbers of one point, from the root of the checkout.
pub fn reference_of(step: &str) -> PathBuf {
    Path::new(SOLUTIONS).join(step).join("variant.cu")
}

/// Start of the part that [`reference()`] replaces.
const BEGIN: &str = "// DRAWN\n";
const END: &str = "// DRAWN_END\n";

/// Returns the reference kernel for a point, from the text of the file.
pub fn reference(text: &str, point: &Point) -> Result<String, String> {
    let missing = |marker: &str| format!("there is no `{}`", marker.trim_end());
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| missing(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| missing(END))?;
    let numbers = point.numbers.iter();
    let numbers: Vec<String> = numbers.map(|(name, number)| format!("{name} = {number}")).collect();
    let mut drawn = format!("constexpr int {};\n", numbers.join(", "));
    drawn.push_str(&format!("using Element = {};\n", point.element()));
    if !point.work.is_transpose() && point.work.operands() == Format::Fp32 {
        let [a, b] = point.work.transposed();
        drawn.push_str(&format!("constexpr bool A_TURNED = {a}, B_TURNED = {b};  // stored transposed\n"));
    }
    Ok(format!("{before}{drawn}{after}"))
}

impl Point {
    /// Returns the point as part of a file name, such as `sgemm_tn-BM16-BN32`.
    pub fn slug(&self) -> String {
        self.to_string().replace(' ', "-").replace('=', "")
    }

    fn element(&self) -> &'static str {
        if self.work.is_double() { "double" } else { "float" }
    }
}

impl Variant {
    /// Returns the point for a seed. A hash hides the seed from those who know the point.
    pub fn draw(&self, step: &str, seed: u64) -> Option<&Point> {
        let hash = sha256(format!("{step} {seed}").as_bytes());
        let number = u64::from_str_radix(hash.get(..15)?, 16).ok()?;
        let at = number.checked_rem(self.points.len() as u64)?;
        self.points.get(usize::try_from(at).ok()?)
    }

    pub fn table(&self, point: &Point) -> Result<Table, String> {
        let mut names = vec![("BYTES", point.work.element_bytes() as f64)];
        names.extend(point.numbers.iter().map(|(name, n)| (name.as_str(), *n as f64)));
        let filler = Filler { point: Some(point), names };
        let mut table = self.task.clone();
        for (field, value) in table.iter_mut() {
            filler.fill(value).map_err(|why| format!("{field}: {why}"))?;
        }
        table.insert("id".into(), Value::String(ID.into()));
        let work = Value::try_from(point.work).map_err(|error| error.to_string())?;
        table.insert("work".into(), work);
        Ok(table)
    }
}

/// Fills in texts with expressions in braces.
pub(crate) struct Filler<'a> {
    /// The computation that a text may describe.
    pub(crate) point: Option<&'a Point>,
    pub(crate) names: Vec<(&'a str, f64)>,
}

impl Filler<'_> {
    fn fill(&self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => *value = self.filled(text)?,
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.fill(value))?,
            Value::Table(table) => table.iter_mut().try_for_each(|(_, value)| self.fill(value))?,
            _ => {}
        }
        Ok(())
    }

    /// Replaces the expressions of a text. A text that is a single expression becomes a number.
    fn filled(&self, text: &str) -> Result<Value, String> {
        if let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
            && !inner.contains(['{', '}'])
            && self.word(inner).is_none()
        {
            let number = self.number(inner)?;
            return Ok(if number.fract() == 0.0 && number.abs() < MAX_INTEGER {
                Value::Integer(number as i64)
            } else {
                Value::Float(number)
            });
        }
        Ok(Value::String(self.text(text)?))
    }

    pub(crate) fn text(&self, text: &str) -> Result<String, String> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (inner, after) = after.split_once('}').ok_or_else(|| format!("a brace is not closed in `{text}`"))?;
            out.push_str(before);
            match self.word(inner) {
                Some(word) => out.push_str(word),
                None => out.push_str(&self.number(inner)?.to_string()),
            }
            rest = after;
        }
        Ok(out + rest)
    }

    fn word(&self, name: &str) -> Option<&'static str> {
        match (name, self.point) {
            ("LAYOUT", Some(point)) => Some(point.work.layout()),
            ("ELEMENT", Some(point)) => Some(point.element()),
            _ => None,
        }
    }

    /// Evaluates and rounds an expression, so that a text shows the threshold that holds.
    pub(crate) fn number(&self, expression: &str) -> Result<f64, String> {
        let value = evaluate(expression, &self.names).map_err(|why| format!("`{expression}`: {why}"))?;
        Ok((value * ROUNDING).round() / ROUNDING)
    }
}

const MAX_INTEGER: f64 = 1e9;
const ROUNDING: f64 = 1e6;
