//! State of a class, from the progress files that students hand in.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use catalog::statistics::median;
use serde::{Deserialize, Serialize};
use tasks::progress::TaskProgress;
use tasks::{Task, TomlError};

use crate::submissions;

/// Number of timed students from which their median replaces the estimate.
const MIN_TIMED: usize = 3;
/// Unit to which minutes are rounded up.
const ROUNDED_TO: u32 = 5;
/// Limit of codes listed for a task.
const MAX_CODES: usize = 3;

/// Progress of a class.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Students with a progress file.
    pub students: usize,
    /// Tasks begun by at least one student, in the order of the steps.
    pub tasks: Vec<TaskReport>,
    /// Files that could not be read: student and reason.
    pub unreadable: Vec<(String, String)>,
    /// Students without a progress file.
    pub without: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TaskReport {
    /// Name such as `v02`.
    pub task: String,
    pub begun: usize,
    pub passed: usize,
    /// Students who gave up before they passed.
    pub gave_up: usize,
    /// Students who began it, and neither passed nor gave up.
    pub stuck: Vec<Stuck>,
    pub hints: u32,
    /// Median minutes of work of those who passed.
    pub minutes: Option<f64>,
    /// Number of students with known minutes.
    pub timed: usize,
    /// Minutes estimated in the catalogue.
    pub estimate: u32,
    /// Median number of checks until the first pass.
    pub checks: Option<f64>,
    /// Codes of failed checks and the number of students who had them, the most frequent first.
    pub codes: Vec<(String, usize)>,
}

/// A student who has not passed yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stuck {
    /// Name of the student, from the folder of the submission.
    pub student: String,
    /// Code of the last check; none before the first.
    pub code: Option<String>,
    pub checks: u32,
    pub minutes: u32,
    pub hints: u32,
}

/// Reads the progress files below `folder`: `NAME/my/progress.toml` or `NAME/progress.toml`.
pub fn read(folder: &Path, tasks: &[Task]) -> std::io::Result<Report> {
    let (mut class, mut unreadable, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for submission in submissions::all(folder)? {
        match submission.progress() {
            Ok(Some(progress)) => class.push((submission.student, progress)),
            Ok(None) => without.push(submission.student),
            Err(why) => unreadable.push((submission.student, why.to_string())),
        }
    }
    let mut found = Vec::new();
    for task in tasks {
        let name = task.name.to_string();
        let of_task = class.iter().filter_map(|(student, progress)| Some((student, progress.tasks.get(&name)?)));
        let all: Vec<(&String, &TaskProgress)> = of_task.collect();
        if all.is_empty() {
            continue;
        }
        let passed: Vec<_> = all.iter().filter(|(_, own)| own.passed.is_some()).collect();
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        for code in all.iter().flat_map(|(_, own)| own.failures.keys()) {
            *codes.entry(code).or_default() += 1;
        }
        let mut codes: Vec<(String, usize)> = codes.into_iter().map(|(code, n)| (code.to_owned(), n)).collect();
        codes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        codes.truncate(MAX_CODES);
        let mut stuck: Vec<Stuck> = all
            .iter()
            .filter(|(_, own)| !own.is_over())
            .map(|(student, own)| Stuck {
                student: (*student).clone(),
                code: own.code.as_deref().map(crate::plain),
                checks: own.checks,
                minutes: u32::try_from(own.seconds / 60).unwrap_or(u32::MAX),
                hints: own.hints,
            })
            .collect();
        stuck.sort_by(|a, b| (b.minutes, b.checks, &a.student).cmp(&(a.minutes, a.checks, &b.student)));
        let minutes: Vec<f64> =
            passed.iter().filter(|(_, own)| own.seconds > 0).map(|(_, own)| own.seconds as f64 / 60.0).collect();
        let checks: Vec<f64> = passed.iter().filter_map(|(_, own)| own.checks_to_pass.map(f64::from)).collect();
        found.push(TaskReport {
            task: name,
            begun: all.len(),
            passed: passed.len(),
            gave_up: all.iter().filter(|(_, own)| own.passed.is_none() && own.gave_up.is_some()).count(),
            stuck,
            hints: all.iter().fold(0, |sum, (_, own)| sum.saturating_add(own.hints)),
            timed: minutes.len(),
            minutes: median(minutes),
            estimate: task.minutes,
            checks: median(checks),
            codes: codes.into_iter().map(|(code, n)| (crate::plain(&code), n)).collect(),
        });
    }
    Ok(Report { students: class.len(), tasks: found, unreadable, without })
}

/// Measured minutes by task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minutes {
    pub format: u32,
    #[serde(default)]
    pub minutes: BTreeMap<String, u32>,
}

impl Report {
    /// Returns the medians, rounded up, of tasks with times of enough students.
    pub fn measured(&self) -> Minutes {
        let enough = self.tasks.iter().filter(|task| task.timed >= MIN_TIMED);
        let minutes = enough.filter_map(|task| {
            let measured = task.minutes?.ceil() as u32;
            Some((task.task.clone(), measured.max(1).div_ceil(ROUNDED_TO) * ROUNDED_TO))
        });
        Minutes { format: 1, minutes: minutes.collect() }
    }
}

impl Minutes {
    /// Reads a file written by [`Minutes::text`]; `name` is its path in errors.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let minutes: Self = TomlError::read(text).map_err(|TomlError { line, why }| anyhow!("{name}:{line}: {why}"))?;
        ensure!(minutes.format == 1, "{name}: format: {}, and this version reads 1", minutes.format);
        Ok(minutes)
    }

    /// Returns the text of a file for [`Minutes::parse`].
    pub fn text(&self) -> String {
        let table = toml::to_string(self).unwrap_or_default();
        format!(
            "# Minutes of work until a task passed: medians of a class, from its progress files.\n# `cargo xtask assign \
             --minutes THIS` uses them in place of the estimates.\n{table}"
        )
    }
}
