//! The grades of a class in the formats of course systems.

mod csv;
mod exercism;
mod gradescope;
mod html;
mod junit;

use std::path::{Path, PathBuf};

use catalog::files::{FileError, write_derived};
use tasks::verdict::{Status, Verdict};

use crate::file_name;
use crate::grade::{Class, Student};

/// Writes all formats below `out`, and returns the files for people.
pub fn write(class: &Class, out: &Path) -> Result<Vec<PathBuf>, FileError> {
    let put = |path: PathBuf, text: &str| {
        let folder = catalog::files::folder_of(&path);
        std::fs::create_dir_all(folder).and_then(|()| write_derived(&path, text)).map_err(FileError::at(&path))?;
        Ok::<PathBuf, FileError>(path)
    };
    for student in &class.students {
        let name = file_name(&student.name);
        let record = json(&gradescope::results(class, student));
        put(out.join("gradescope").join(&name).join("results.json"), &record)?;
        let record = json(&exercism::results(student));
        put(out.join("exercism").join(&name).join("results.json"), &record)?;
    }
    Ok(vec![
        put(out.join("report.html"), &html::report(class))?,
        put(out.join("grades.csv"), &csv::table(class))?,
        put(out.join("grades.json"), &json(class))?,
        put(out.join("junit.xml"), &junit::report(class))?,
    ])
}

fn json(value: &impl serde::Serialize) -> String {
    // Strings, numbers and lists always serialise.
    let mut text = serde_json::to_string_pretty(value).expect("plain data");
    text.push('\n');
    text
}

/// Formats feedback on a task as plain text: failed parts, the first wrong element, the findings.
fn feedback(verdict: &Verdict) -> String {
    let mut out = String::new();
    let mut add = |text: &str| {
        let clean: String = text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
        out.push_str(clean.trim_end());
        out.push('\n');
    };
    if let Some(why) = &verdict.why {
        add(why);
    }
    if let Some(refused) = &verdict.compiler {
        for error in refused.errors.iter().skip(1) {
            add(&error.to_string());
        }
        if let Some(hint) = &refused.hint {
            add(&format!("hint: {hint}"));
        }
    }
    if let Some(wrong) = &verdict.wrong {
        add(&format!("on {}, {}: {}", wrong.shape, wrong.on, wrong.first));
        add(&wrong.map);
    }
    for found in &verdict.findings {
        add(&format!("\non {}:\n{}", found.shape, found.text));
    }
    for part in verdict.parts.iter().filter(|part| part.status == Status::Failed) {
        if let Some(measured) = &part.measured {
            add(&format!("{}: {}", part.id, measured.in_a_sentence()));
        }
    }
    out.trim().to_owned()
}

fn output_of(student: &Student, item: &crate::score::Item) -> String {
    let mut out = item.why.clone().unwrap_or_default();
    let failed = item.status == Status::Failed;
    let verdict = student.verdicts.iter().find(|verdict| item.task.as_ref() == Some(&verdict.task));
    let first_failed = student.items.iter().find(|other| other.status == Status::Failed && other.task == item.task);
    let is_first = first_failed.is_some_and(|first| first.id == item.id);
    if let Some(verdict) = verdict.filter(|_| failed && is_first) {
        let more = feedback(verdict);
        if !more.is_empty() && more != out {
            out = if more.starts_with(&out) { more } else { format!("{out}\n{more}") };
        }
    }
    out.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::score::Item;
    use crate::similar::Pair;
    use tasks::TaskName;

    /// Returns a class of two, with names and texts that try to escape their format.
    pub(crate) fn class() -> Class {
        let item = |id: &str, points: f64, status: Status, why: Option<&str>| Item {
            id: id.into(),
            task: Some(TaskName::rebuild("v02")),
            what: "every <element> is right".into(),
            points,
            max: 4.0,
            status,
            why: why.map(str::to_owned),
        };
        let mut verdict = Verdict::stopped(TaskName::rebuild("v02"), &[], "wrong-result", "<script>alert(1)</script>");
        verdict.parts.clear();
        let student = |name: &str, items: Vec<Item>, verdict: &Verdict| Student {
            name: name.into(),
            points: items.iter().map(|item| item.points).sum(),
            items,
            verdicts: vec![verdict.clone()],
            notes: vec!["a note & more".into()],
        };
        let mut passed = verdict.clone();
        passed.status = Status::Passed;
        (passed.code, passed.why) = (None, None);
        Class {
            format: 1,
            title: "Tiles & more".into(),
            max: 8.0,
            students: vec![
                student("=cmd()|\"ada\"", vec![item("v02.right", 4.0, Status::Passed, None)], &passed),
                student(
                    "<b>bob</b>",
                    vec![
                        item("v02.right", 0.0, Status::Failed, Some("]]><x>\u{1}")),
                        item("v02.clean", 0.0, Status::NotRun, Some("not yet")),
                    ],
                    &verdict,
                ),
            ],
            similar: vec![Pair {
                task: "v02".into(),
                students: ["<b>bob</b>".into(), "=cmd()|\"ada\"".into()],
                share: 0.9,
                passages: 12,
            }],
        }
    }

    #[test]
    fn nothing_of_a_stranger_is_markup() {
        let class = class();
        for text in [html::report(&class), junit::report(&class)] {
            for wrong in ["<script>alert", "<b>bob", "]]><x>", "\u{1}"] {
                assert!(!text.contains(wrong), "{wrong}");
            }
        }
    }

    #[test]
    fn an_item_has_the_report_of_its_own_task() {
        let name = |text: &str| TaskName::parse(text).expect("a name");
        let verdict = |task: &str| {
            let why = format!("the report of {task}");
            Verdict::stopped(name(task), &[], "wrong-result", &why)
        };
        let item = |task: &str| Item {
            id: format!("{task}.right"),
            task: Some(name(task)),
            what: "every element is right".into(),
            points: 0.0,
            max: 4.0,
            status: Status::Failed,
            why: None,
        };
        let mut student = class().students.remove(0);
        let tasks = ["v05", "v05.wide", "v05.wid"];
        student.verdicts = tasks.map(verdict).into();
        student.items = tasks.map(item).into();
        let question = Item { id: "v05.sectors".into(), task: None, why: Some("no answer".into()), ..item("v05") };
        assert_eq!(output_of(&student, &question), "no answer");
        for (task, item) in tasks.iter().zip(&student.items) {
            assert_eq!(output_of(&student, item), format!("the report of {task}"));
        }
    }
}
