//! `{{#task}}`, `{{#judged}}`, `{{#finished}}`, `{{#transfers}}`, `{{#mistakes}}`: the tasks of a step.
//!
//! The texts come from `steps/vNN/tasks.toml`; the questions in these files are expanded in `questions`.

use std::fmt::Write as _;

use anyhow::{Error, Result, anyhow, bail};
use catalog::text::capital;
use regex::Captures;
use tasks::progress::{self, Progress};
use tasks::task::{Criterion, Task, TaskKind};
use tasks::{Catalogue, TaskName, solutions, task, verdict};

use crate::{Pattern, RepoPaths, markdown::Table};
use crate::{chapter::Items, slides::Slide};

/// Loads the catalogue of a step, and records it as part of the book.
pub(crate) fn catalogue(repo: &RepoPaths, step: &str) -> Result<Catalogue> {
    let step = catalog::find(step)?;
    repo.note(&repo.root().join(task::file_of(step.id)));
    Ok(Catalogue::load(repo.root(), step.id)?)
}

/// Finds a task by its name: `v05`, `v05.wide`.
pub(crate) fn task(repo: &RepoPaths, name: &str) -> Result<Task> {
    let name = TaskName::parse(name)?;
    let catalogue = catalogue(repo, &name.step)?;
    Ok(catalogue.find(&name).map_err(Error::msg)?.clone())
}

/// Steps whose kernels run in the page: the built-in compiler compiles them.
pub(crate) const RUNNABLE_STEPS: [&str; 9] = ["v00", "v01", "v02", "v03", "v04", "v05", "v06", "v07", "v08"];

pub(crate) fn is_runnable(task: &Task) -> bool {
    RUNNABLE_STEPS.contains(&&*task.name.step) && task.host.is_none() && !task.is_rust
}

/// Returns the place in a page where a kernel of a task can be edited and run; nothing where it cannot.
fn place(repo: &RepoPaths, task: &Task, suffix: &str) -> String {
    if repo.page_modules().is_none() || !is_runnable(task) {
        return String::new();
    }
    format!("\n<div class=\"runnable\" data-run=\"{}{suffix}\"></div>\n", task.name)
}

/// Expands `{{#task v05}}`: the task, its duration, and the commands.
pub(crate) fn what_to_do(repo: &RepoPaths, name: &str) -> Result<String> {
    let task = task(repo, name)?;
    let name = &task.name;
    Ok(format!(
        "{}\nIt takes about {} minutes.\n\n```sh\ncargo xtask start {name}\ncargo xtask check {name}\n```\n\n\
         `start` writes {} to `my/{name}.{}`, a file of your own: nothing that is committed changes.\n\n{}",
        text(&task.text),
        task.minutes,
        given(&task),
        if task.host.is_some() { "toml" } else { "cu" },
        place(repo, &task, ".start")
    ))
}

pub(crate) fn slide(repo: &RepoPaths, name: &str) -> Result<Slide> {
    let task = task(repo, name)?;
    Ok(Slide::Task { name: task.name.to_string(), minutes: task.minutes })
}

/// Describes the file that a learner begins with.
fn given(task: &Task) -> &'static str {
    match (task.has_starter, task.kind) {
        _ if task.host.is_some() => "what the host passes, filled in wrongly,",
        (true, TaskKind::Rebuild) => "the finished kernel without its idea",
        (true, TaskKind::Transfer) => "a kernel with gaps",
        (false, _) => "a file with nothing but the signature and the launch",
    }
}

/// Expands `{{#judged v05}}`: the criteria by which `check` judges a task, and the reasons for its limits.
pub(crate) fn judged(repo: &RepoPaths, name: &str) -> Result<String> {
    let task = task(repo, name)?;
    let mut out = criteria(&task);
    if let Some(why) = limits(repo, &task.name.step) {
        let _ = write!(out, "\n<details><summary>Why these limits</summary>\n\n{}\n\n</details>\n", prose(&why));
    }
    Ok(out)
}

/// Expands `{{#finished v05}}` or `{{#finished v09.operands "The call"}}`: begins the fold around the solution of a
/// task, which is open in the book of a learner who has passed it. `</details>` ends it.
pub(crate) fn finished(repo: &RepoPaths, name: &str, what: &str) -> Result<String> {
    let task = task(repo, name)?;
    repo.note(&progress::file(repo.root()));
    let known = Progress::load(repo.root())?;
    let passed = known.tasks.get(&task.name.to_string()).is_some_and(|task| task.passed.is_some());
    let (open, ending) = if passed { (" open", ", which you have passed") } else { ("", ": open it all the same") };
    // The page's script leaves it empty where a listing shows the whole kernel.
    let place = if task.name.id.is_none() { place(repo, &task, "") } else { String::new() };
    Ok(format!("<details{open}><summary>{what}, a solution of {name}{ending}</summary>\n{place}"))
}

fn criteria(task: &Task) -> String {
    let mut out = format!(
        "- `right`: {}, on awkward shapes.\n- `clean`: {}: {}.\n",
        verdict::RIGHT,
        verdict::CLEAN,
        "bounds, races, barriers, alignment, uninitialised elements"
    );
    for criterion in &task.criteria {
        let _ = writeln!(
            out,
            "- `{}`: {}. Counted on {}: {}, {}. *If not:* {}.",
            criterion.id,
            prose(&criterion.what),
            sizes(criterion),
            prose(&criterion.measure.description(criterion.bk)),
            criterion.threshold(),
            prose(&criterion.misses)
        );
    }
    out
}

/// Formats the sizes of the counted launch, such as `256×256×64`.
fn sizes(criterion: &Criterion) -> String {
    let sizes: Vec<String> = criterion.shape.iter().filter(|size| **size > 0).map(ToString::to_string).collect();
    sizes.join("×")
}

/// Returns the reasons for the thresholds: the comment at the head of the catalogue, from `Thresholds.` on.
fn limits(repo: &RepoPaths, step: &str) -> Option<String> {
    const BEGIN: &str = "Thresholds.";
    let text = repo.read(&repo.root().join(task::file_of(step))).ok()?;
    let words: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix('#'))
        .flat_map(str::split_whitespace)
        .skip_while(|word| *word != BEGIN)
        .skip(1)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Expands `{{#transfers v05}}`: the transfer tasks of a step, folded; ids after the step select tasks.
pub(crate) fn transfers(repo: &RepoPaths, step: &str, ids: &[&str]) -> Result<String> {
    let catalogue = catalogue(repo, step)?;
    let id = |task: &Task| task.name.id.clone().unwrap_or_default();
    if let Some(gone) = ids.iter().find(|wanted_id| !catalogue.tasks.iter().any(|task| id(task) == **wanted_id)) {
        bail!("{} has no task `{step}.{gone}`", task::file_of(step).display());
    }
    let wanted = |task: &&Task| task.kind == TaskKind::Transfer && (ids.is_empty() || ids.contains(&id(task).as_str()));
    let mut out = String::new();
    for task in catalogue.tasks.iter().filter(wanted) {
        let name = &task.name;
        let start = if task.has_starter { "with a starter" } else { "from the bare signature" };
        let _ = write!(
            out,
            "<details><summary>{name}: {} ({} minutes, {start})</summary>\n\n{}\n\n\
             ```sh\ncargo xtask start {name}\ncargo xtask check {name}\n```\n\n{}\n{}\n</details>\n\n",
            catalog::text::escaped(&task.title),
            task.minutes,
            text(&task.text),
            place(repo, task, ".start"),
            criteria(task)
        );
    }
    if out.is_empty() { Err(anyhow!("{} has no transfer task", task::file_of(step).display())) } else { Ok(out) }
}

/// Expands `{{#mistakes v05}}`: each way to fail a rebuild task, the question to ask, and the tests' examples.
pub(crate) fn mistakes(repo: &RepoPaths, step: &str) -> Result<String> {
    let task = task(repo, step)?;
    let wrong = solutions::load(repo.root(), &task.name.step)?;
    let mut rows: Vec<(&str, &str, &str)> = Vec::new();
    for hint in task.hints.iter().filter(|hint| !hint.symptom.is_empty()) {
        let criterion = task.criteria.iter().find(|criterion| criterion.id == hint.symptom);
        let means = criterion.map_or("", |criterion| criterion.misses.as_str());
        rows.push((&hint.symptom, means, hint.levels.first().map_or("", String::as_str)));
    }
    for criterion in &task.criteria {
        if !rows.iter().any(|(code, ..)| *code == criterion.id) {
            rows.push((&criterion.id, &criterion.misses, ""));
        }
    }
    let mut table = Table::new("code | ask | wrong kernels that the tests hold");
    for (code, means, ask) in rows {
        let kernels: Vec<String> = wrong
            .iter()
            .filter(|kernel| kernel.task.name == task.name && kernel.expect.iter().any(|known| known == code))
            .map(|kernel| kernel.name.rsplit('/').next().unwrap_or_default().replace('-', " "))
            .collect();
        let ask = match (means, ask) {
            ("", ask) => prose(ask),
            (means, "") => format!("{}.", prose(&capital(means))),
            (means, ask) => format!("{}. *{}*", prose(&capital(means)), prose(ask)),
        };
        table.row(&[&format!("`{code}`"), &ask.replace('|', "\\|"), &kernels.join("; ")]);
    }
    Ok(table.to_string())
}

/// Formats paragraphs of a catalogue as Markdown; indented lines are code.
pub(crate) fn text(text: &str) -> String {
    let paragraphs: Vec<String> = text
        .trim()
        .split("\n\n")
        .map(|paragraph| {
            if paragraph.lines().any(|line| line.starts_with(' ')) {
                let lines: Vec<&str> = paragraph.lines().map(|line| line.trim_start_matches(' ')).collect();
                format!("```cpp\n{}\n```", lines.join("\n"))
            } else {
                prose(paragraph)
            }
        })
        .collect();
    paragraphs.join("\n\n")
}

/// Formats a plain sentence of a catalogue as Markdown: names from the code become code, the rest is escaped.
pub(crate) fn prose(text: &str) -> String {
    static NAME: Pattern = pattern!(
        r"cargo xtask [a-z]+(?: v\d\d(?:\.[a-z]+)?)?|\w+(?:\[[^\]]*\])+(?:\[[^\]]*\])*|\b\w+\([^()]*\)|\b\w*_\w+\b|\bfloat4\b|\bdouble2\b|\b[a-z]+\.[a-z]{1,3}\b"
    );
    static TIMES: Pattern = pattern!(r"(\d) x (\d)");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = TIMES.replace_all(&text, "$1 × $2");
    // Applied twice, because the matches in 4 x 4 x 4 overlap.
    let text = TIMES.replace_all(&text, "$1 × $2").into_owned();
    let mut out = String::new();
    let mut from = 0;
    for found in NAME.find_iter(&text) {
        out.push_str(&escaped(&text[from..found.start()]));
        out.push_str(&format!("`{}`", found.as_str()));
        from = found.end();
    }
    out.push_str(&escaped(&text[from..]));
    Items::default().line(&out)
}

/// Escapes everything that Markdown takes for markup.
fn escaped(text: &str) -> String {
    static MARK: Pattern = pattern!(r"[\\*_<\[\]`|]");
    MARK.replace_all(text, |mark: &Captures<'_>| format!("\\{}", &mark[0])).into_owned()
}
