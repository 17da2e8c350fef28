//! `{{#step}}`: the head of a step's chapter, with its place on the ladder and its prerequisites.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, anyhow, bail};
use catalog::{PROGRAMS, STEPS};

use crate::{Pattern, chapter::ChapterLine, markdown::Table};
use catalog::text::escaped;

/// A step, or a program around the ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rung {
    pub(crate) id: &'static str,
    name: &'static str,
    idea: &'static str,
    command: String,
}

fn rungs() -> impl Iterator<Item = Rung> {
    let steps = STEPS.iter().map(|s| (s.id, s.name, s.idea, format!("cargo xtask bench {}", s.id)));
    let programs = PROGRAMS.map(|p| (p.id, p.name, p.idea, p.command.to_owned()));
    steps.chain(programs).map(|(id, name, idea, command)| Rung { id, name, idea, command })
}

fn find_rung(asked: &str) -> Result<Rung> {
    let is_program = PROGRAMS.iter().any(|program| program.id == asked);
    let id = if is_program { asked } else { catalog::find(asked)?.id };
    rungs().find(|rung| rung.id == id).context("the catalogue has it")
}

/// The comment `<!-- step: v05 minutes=50 after=v04 gpu=no -->` of a chapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepHead {
    pub(crate) step: Rung,
    minutes: u32,
    after: Vec<Rung>,
    gpu: [&'static str; 3],
}

/// Values of `gpu=`, each with its words in the strip and in the table.
const GPU: [[&str; 3]; 3] = [
    ["no", "no GPU needed", "not needed"],
    ["yes", "needs a GPU", "needed"],
    ["helps", "a GPU helps, and is not needed", "helps"],
];

/// Finds and parses the comment of a chapter; returns its line too.
pub(crate) fn step_head(lines: &[ChapterLine<'_>]) -> Option<(usize, Result<StepHead>)> {
    static COMMENT: Pattern = pattern!(r"^\s*<!--\s*step:\s*(.*?)\s*-->\s*$");
    lines.iter().find_map(|line| {
        let found = COMMENT.captures(line.text)?;
        Some((line.number, parse(found.get(1)?.as_str())))
    })
}

fn parse(text: &str) -> Result<StepHead> {
    let mut words = text.split_whitespace();
    let step = words.next().context("the comment names no step")?;
    let (mut minutes, mut after, mut gpu) = (None, Vec::new(), None);
    for word in words {
        match word.split_once('=') {
            Some(("minutes", n)) => minutes = Some(n.parse().map_err(|_| anyhow!("`{n}` is no number of minutes"))?),
            Some(("after", "")) => {}
            Some(("after", steps)) => after = steps.split(',').map(find_rung).collect::<Result<_, _>>()?,
            Some(("gpu", asked)) if let Some(words) = GPU.into_iter().find(|words| words[0] == asked) => {
                gpu = Some(words)
            }
            _ => bail!("`{word}` is none of minutes=N, after=vNN, gpu=no|yes|helps"),
        }
    }
    Ok(StepHead {
        step: find_rung(step)?,
        minutes: minutes.context("minutes=N is missing")?,
        after,
        gpu: gpu.context("gpu=no|yes|helps is missing")?,
    })
}

/// Returns the strip at the head of a chapter. `page` maps a step to its page.
pub(crate) fn strip(head: &StepHead, page: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::from("<nav class=\"strip\" aria-label=\"The ladder\">\n<ol>\n");
    let link = |step: &Rung, text: String| match page(step.id) {
        Some(page) => format!("<a href=\"{page}\">{text}</a>"),
        None => text,
    };
    for step in rungs() {
        let label = format!("<abbr title=\"{}\">{}</abbr>", escaped(step.name), step.id);
        let _ = if step.id == head.step.id {
            writeln!(out, "<li aria-current=\"step\">{label}</li>")
        } else {
            writeln!(out, "<li>{}</li>", link(&step, label))
        };
    }
    let named = |step| link(step, format!("{} {}", step.id, escaped(step.name)));
    let after: Vec<String> = head.after.iter().map(named).collect();
    let after = if after.is_empty() { String::new() } else { format!(" · after {}", after.join(", ")) };
    let _ = write!(
        out,
        "</ol>\n<p><strong>{}</strong>: {}.</p>\n<p class=\"needs\">{} minutes{after} · {} · <code>{}</code></p>\n</nav>\n",
        head.step.id,
        escaped(head.step.idea),
        head.minutes,
        head.gpu[1],
        head.step.command
    );
    out
}

/// Expands `{{#steps}}`: a table of all steps whose chapters have the comment, with the minutes of all their chapters.
pub(crate) fn table(heads: &[StepHead], page: impl Fn(&str) -> Option<String>) -> String {
    let mut table = Table::new("step | >minutes | after | GPU");
    for chapters in heads.chunk_by(|one, other| one.step.id == other.step.id) {
        let (head, minutes) = (&chapters[0], chapters.iter().map(|chapter| chapter.minutes).sum::<u32>());
        let step = match page(head.step.id) {
            Some(page) => format!("[{} {}]({page})", head.step.id, head.step.name),
            None => format!("{} {}", head.step.id, head.step.name),
        };
        let after: Vec<&str> = head.after.iter().map(|step| step.id).collect();
        let after = if after.is_empty() { "–".to_owned() } else { after.join(", ") };
        table.row(&[&step, &minutes, &after, &head.gpu[2]]);
    }
    let minutes: u32 = heads.iter().map(|head| head.minutes).sum();
    table.row(&[&"together", &minutes, &"", &""]);
    table.to_string()
}
