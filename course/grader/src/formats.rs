//! The grades of a class in the formats of course systems.

mod csv;
mod exercism;
mod gradescope;
mod html;
mod junit;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use catalog::files::{FileError, write_derived};
use tasks::verdict::{Status, Verdict};

use crate::file_name;
use crate::grade::{ClassGrades, Student};

/// Writes all formats below `out`, and returns the files for people.
pub fn write(class: &ClassGrades, out: &Path) -> Result<Vec<PathBuf>, FileError> {
    let put = |path: PathBuf, text: &str| {
        let folder = catalog::files::folder_of(&path);
        std::fs::create_dir_all(folder).and_then(|()| write_derived(&path, text)).map_err(FileError::at(&path))?;
        Ok::<PathBuf, FileError>(path)
    };
    // Of those who are no longer in the class.
    for folder in
        ["gradescope", "exercism", "pages"].map(|name| out.join(name)).into_iter().filter(|path| path.is_dir())
    {
        std::fs::remove_dir_all(&folder).map_err(FileError::at(&folder))?;
    }
    for student in &class.students {
        let name = file_name(&student.name);
        let record = json(&gradescope::results(class, student));
        put(out.join("gradescope").join(&name).join("results.json"), &record)?;
        put(out.join("pages").join(format!("{name}.html")), &html::page(class, student))?;
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

/// Returns the codes of an anonymous grading with their names, as CSV.
pub fn codes(class: &ClassGrades) -> String {
    let rows = class.codes.iter().map(|row| csv::line(row));
    ["code,student\n".to_owned()].into_iter().chain(rows).collect()
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
    let verdict = student.verdicts.iter().find(|verdict| item.task.as_ref() == Some(&verdict.task));
    // Of a kernel that does not compile, no item failed: none was judged.
    let is_refused = verdict.is_some_and(|verdict| verdict.compiler.is_some());
    let mut failed = student.items.iter().filter(|other| other.status == Status::Failed || is_refused);
    let first = failed.find(|other| other.task == item.task);
    let is_first = first.is_some_and(|first| first.id == item.id);
    if let Some(verdict) = verdict.filter(|_| is_first) {
        let more = feedback(verdict);
        if !more.is_empty() && more != out {
            out = if more.starts_with(&out) { more } else { format!("{out}\n{more}") };
        }
    }
    out.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect()
}
