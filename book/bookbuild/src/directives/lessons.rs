//! `{{#lesson}}`, `{{#plan}}`: sheets for sessions of 90 minutes, and courses made of them, from `book/lessons.toml`.
//!
//! The catalogue has the duration of each task; in a session a task gets the time that the other parts leave.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::{RepoPaths, directives::tasks::catalogue, markdown::Table};

const SESSION: u32 = 90;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LessonsFile {
    lesson: Vec<Lesson>,
    plan: Vec<Plan>,
}

/// The session sheet for a step.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lesson {
    step: String,
    /// Aim of the session, as one sentence.
    aim: String,
    /// The sentence to collect at the end, and what a good one has.
    collect: String,
    /// Questions to ask, and mistakes to expect, in Markdown.
    #[serde(default)]
    notes: String,
    part: Vec<LessonPart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LessonPart {
    /// Duration; the task has none and gets the rest of the session.
    minutes: Option<u32>,
    #[serde(rename = "do")]
    activity: Activity,
    what: String,
    /// Material: a command, a page, paper.
    #[serde(default)]
    with: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Activity {
    /// The instructor explains.
    Say,
    /// The class answers, on paper first.
    Ask,
    /// The class works on tasks.
    Work,
    /// The class reads the counts of a program together.
    Count,
}

impl Activity {
    fn word(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Ask => "ask",
            Self::Work => "let do",
            Self::Count => "count",
        }
    }
}

/// Plan of a course with several sessions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    name: String,
    session: Vec<Session>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    /// Steps whose sheets are used.
    steps: Vec<String>,
    /// Parts of the sheets to use, and extras.
    what: String,
    #[serde(default)]
    tasks: Vec<String>,
    #[serde(default)]
    home: Vec<String>,
}

fn load(repo: &RepoPaths) -> Result<LessonsFile> {
    let path = repo.book().join("lessons.toml");
    let text = repo.read(&path)?;
    toml::from_str(&text).with_context(|| repo.display_path(&path))
}

/// Expands `{{#lesson v05}}`; an error if the parts do not fill a session.
pub(crate) fn lesson(repo: &RepoPaths, step: &str) -> Result<String> {
    let file = load(repo)?;
    let found = file.lesson.into_iter().find(|lesson| lesson.step == step);
    let lesson = found.with_context(|| format!("book/lessons.toml has no lesson for {step}"))?;
    let fixed: u32 = lesson.part.iter().filter_map(|part| part.minutes).sum();
    let open = lesson.part.iter().filter(|part| part.minutes.is_none()).count();
    let rest = match (SESSION.checked_sub(fixed), open) {
        (Some(0), 0) => 0,
        (Some(rest), 1) if rest > 0 => rest,
        _ => {
            bail!(
                "the parts of the lesson for {step} take {fixed} minutes, and {open} of them have none; a session has \
                 {SESSION}, and one part takes what is left"
            );
        }
    };
    let mut table = Table::new("minutes | | what | with");
    let mut from = 0;
    for part in &lesson.part {
        let to = from + part.minutes.unwrap_or(rest);
        let mut what = part.what.clone();
        if part.minutes.is_none() {
            what.push_str(&estimate(repo, step, rest)?);
        }
        table.row(&[&format!("{from}–{to}"), &part.activity.word(), &what, &part.with]);
        from = to;
    }
    Ok(format!("{}\n\n{table}\n*Collect:* {}\n\n{}", lesson.aim, lesson.collect, lesson.notes))
}

/// Compares the time that is left with the duration of the task.
fn estimate(repo: &RepoPaths, step: &str, rest: u32) -> Result<String> {
    let catalogue = catalogue(repo, step)?;
    let Some(task) = catalogue.tasks.first() else { return Ok(String::new()) };
    let at_home = if task.minutes > rest { ": begin here, and finish at home" } else { "" };
    Ok(format!(" The task takes about {} minutes{at_home}.", task.minutes))
}

/// Expands `{{#plan four}}`.
pub(crate) fn plan(repo: &RepoPaths, name: &str) -> Result<String> {
    let file = load(repo)?;
    let found = file.plan.into_iter().find(|plan| plan.name == name);
    let plan = found.with_context(|| format!("book/lessons.toml has no plan `{name}`"))?;
    let mut table = Table::new(">session | sheets | what | tasks in class | at home");
    let mut at_home = 0;
    for (number, session) in (1..).zip(&plan.session) {
        let mut sheets = Vec::new();
        for step in &session.steps {
            if !file.lesson.iter().any(|lesson| lesson.step == *step) {
                bail!("the plan `{name}` names {step}, for which there is no lesson");
            }
            sheets.push(format!("[{step}](session-sheets.md#{step})"));
        }
        let (class, _) = tasks(repo, &session.tasks)?;
        let (home, minutes) = tasks(repo, &session.home)?;
        at_home += minutes;
        table.row(&[&number, &sheets.join(", "), &session.what, &class, &home]);
    }
    Ok(format!("{table}\nIn class {} × {SESSION} minutes, at home about {at_home}.\n", plan.session.len()))
}

/// Returns tasks with their minutes, and the sum of these.
fn tasks(repo: &RepoPaths, names: &[String]) -> Result<(String, u32)> {
    let (mut words, mut sum) = (Vec::new(), 0);
    for name in names {
        let minutes = crate::directives::tasks::task(repo, name)?.minutes;
        words.push(format!("`{name}` ({minutes})"));
        sum += minutes;
    }
    Ok((words.join(", "), sum))
}
