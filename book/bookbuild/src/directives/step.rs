//! `{{#step}}`: the head of a step's chapter, with its place on the ladder and its prerequisites.

use std::fmt::Write as _;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, anyhow, bail};
use catalog::{STEPS, Step};
use regex::Regex;

use crate::chapter::ChapterLine;
use crate::kernel_args::find_step;
use catalog::text::escaped;

/// The comment `<!-- step: v05 minutes=50 after=v04 gpu=no -->` of a chapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepHead {
    pub(crate) step: &'static Step,
    pub(crate) minutes: u32,
    pub(crate) after: Vec<&'static Step>,
    pub(crate) gpu: String,
}

/// Finds and parses the comment of a chapter; returns its line too.
pub(crate) fn step_head(lines: &[ChapterLine<'_>]) -> Option<(usize, Result<StepHead>)> {
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*<!--\s*step:\s*(.*?)\s*-->\s*$").expect("a fixed pattern"));
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
            Some(("after", steps)) => after = steps.split(',').map(find_step).collect::<Result<_, _>>()?,
            Some(("gpu", word @ ("no" | "yes" | "helps"))) => gpu = Some(word.to_owned()),
            _ => {
                bail!("`{word}` is none of minutes=N, after=vNN, gpu=no|yes|helps");
            }
        }
    }
    Ok(StepHead {
        step: find_step(step)?,
        minutes: minutes.context("minutes=N is missing")?,
        after,
        gpu: gpu.context("gpu=no|yes|helps is missing")?,
    })
}

/// Returns the strip at the head of a chapter. `page` maps a step to its page.
pub(crate) fn strip(head: &StepHead, page: impl Fn(&Step) -> Option<String>) -> String {
    let mut out = String::from("<nav class=\"strip\" aria-label=\"The ladder\">\n<ol>\n");
    for step in STEPS {
        let here = step.id == head.step.id;
        let label = format!("<abbr title=\"{}\">{}</abbr>", escaped(step.name), step.id);
        let _ = match (here, page(step)) {
            (true, _) => writeln!(out, "<li aria-current=\"step\">{label}</li>"),
            (false, Some(page)) => writeln!(out, "<li><a href=\"{page}\">{label}</a></li>"),
            (false, None) => writeln!(out, "<li>{label}</li>"),
        };
    }
    let gpu = match head.gpu.as_str() {
        "yes" => "needs a GPU",
        "helps" => "a GPU helps, and is not needed",
        _ => "no GPU needed",
    };
    let after: Vec<String> = head
        .after
        .iter()
        .map(|step| match page(step) {
            Some(page) => format!("<a href=\"{page}\">{} {}</a>", step.id, escaped(step.name)),
            None => format!("{} {}", step.id, escaped(step.name)),
        })
        .collect();
    let after = if after.is_empty() { String::new() } else { format!(" · after {}", after.join(", ")) };
    let _ = write!(
        out,
        "</ol>\n<p><strong>{}</strong>: {}.</p>\n<p class=\"needs\">{} minutes{after} · {gpu} · <code>cargo xtask bench {}</code></p>\n</nav>\n",
        head.step.id,
        escaped(head.step.idea),
        head.minutes,
        head.step.id
    );
    out
}

/// Expands `{{#steps}}`: a table of all steps whose chapters have the comment, with the minutes of all their chapters.
pub(crate) fn table(heads: &[StepHead], page: impl Fn(&Step) -> Option<String>) -> String {
    let mut out = String::from("| step | minutes | after | GPU |\n| --- | ---: | --- | --- |\n");
    for chapters in heads.chunk_by(|one, other| one.step.id == other.step.id) {
        let (head, minutes) = (&chapters[0], chapters.iter().map(|chapter| chapter.minutes).sum::<u32>());
        let step = match page(head.step) {
            Some(page) => format!("[{} {}]({page})", head.step.id, head.step.name),
            None => format!("{} {}", head.step.id, head.step.name),
        };
        let after: Vec<&str> = head.after.iter().map(|step| step.id).collect();
        let after = if after.is_empty() { "–".to_owned() } else { after.join(", ") };
        let gpu = match head.gpu.as_str() {
            "yes" => "needed",
            "helps" => "helps",
            _ => "not needed",
        };
        let _ = writeln!(out, "| {step} | {minutes} | {after} | {gpu} |");
    }
    let minutes: u32 = heads.iter().map(|head| head.minutes).sum();
    let _ = writeln!(out, "| together | {minutes} | | |");
    out
}
