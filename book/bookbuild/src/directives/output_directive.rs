//! `{{#output}}`: the committed output of a command; `{{#n output NAME KERNEL COLUMN}}`: a cell of a table in it.

use anyhow::{Context as _, Result, anyhow, bail};

use crate::output_command::HEAD;
use crate::quote::{Sources, quoted};
use crate::{Pattern, RepoPaths};

/// Expands `{{#output NAME}}`: a block with an output, or with a difference. Titles after the name select paragraphs.
pub(crate) fn block(repo: &RepoPaths, name: &str, titles: &[&str]) -> Result<String> {
    let mut text = output(repo, name)?;
    if !titles.is_empty() {
        text = only(&text, titles).map_err(|why| anyhow!("the output {name} {why}"))?;
    }
    let language = if text.starts_with("--- ") { "diff" } else { "text" };
    Ok(format!("```{language}\n{text}\n```"))
}

/// Replaces the lines that are not shown.
const LEFT_OUT: &str = "…";

/// Keeps the command, and the paragraphs that begin with one of the titles.
fn only(text: &str, titles: &[&str]) -> Result<String> {
    let (command, printed) = text.split_once('\n').unwrap_or((text, ""));
    let paragraphs = || printed.split("\n\n").map(|p| p.trim_matches('\n'));
    if let Some(title) = titles.iter().find(|title| !paragraphs().any(|p| p.starts_with(**title))) {
        bail!("has no paragraph that begins with `{title}`");
    }
    let mut shown = vec![command];
    for paragraph in paragraphs() {
        let wanted = titles.iter().any(|title| paragraph.starts_with(title));
        match (wanted, shown.last()) {
            (true, _) => shown.push(paragraph),
            (false, Some(&LEFT_OUT)) => {}
            (false, _) => shown.push(LEFT_OUT),
        }
    }
    Ok(shown.join("\n\n"))
}

pub(crate) fn output(repo: &RepoPaths, name: &str) -> Result<String> {
    let path = repo.generated().join(name).with_extension("txt");
    let text = repo.read(&path).map_err(|why| {
        anyhow!("{why}; list its command in book/outputs.toml, then: cargo xtask book --refresh {name}")
    })?;
    let text = text.strip_prefix(HEAD).unwrap_or(&text).trim_matches('\n');
    if text.is_empty() { Err(anyhow!("{} is empty", repo.display_path(&path))) } else { Ok(text.to_owned()) }
}

/// Expands `{{#n output v05-bench KERNEL COLUMN}}`: a cell of a table in an output.
pub(crate) fn number(repo: &RepoPaths, [name, row, column]: [&str; 3], sources: &mut Sources) -> Result<String> {
    let text = output(repo, name)?;
    let value = cell(&text, row, column)
        .with_context(|| format!("the output {name} has no table with a row `{row}` and a column `{column}`"))?;
    let command = text.lines().next().unwrap_or_default().trim_start_matches("$ ");
    sources.insert(format!("<code>{command}</code>"));
    Ok(quoted(value, &format!("{column} of {row}, {command}")))
}

/// Finds a cell. A table begins with a line of titles, the first of them `kernel`, and ends with an empty line.
/// Titles and cells are two blanks apart; numbers end where their title ends, words begin where it begins.
fn cell<'a>(text: &'a str, row: &str, column: &str) -> Option<&'a str> {
    let mut place: Option<(usize, usize)> = None;
    for line in text.lines() {
        let cells = cells(line);
        match cells.first() {
            None => place = None,
            Some((_, "kernel")) => {
                let title = cells.iter().find(|(_, title)| *title == column);
                place = title.map(|(at, title)| (*at, at + title.chars().count()));
            }
            Some((_, first)) if *first == row => {
                let is_it = |(at, cell): &&(usize, &str)| {
                    place.is_some_and(|(start, end)| *at == start || at + cell.chars().count() == end)
                };
                if let Some((_, cell)) = cells.iter().find(is_it) {
                    return Some(cell);
                }
            }
            Some(_) => {}
        }
    }
    None
}

/// Splits a line at two or more blanks; returns each text with its first column.
fn cells(line: &str) -> Vec<(usize, &str)> {
    static CELL: Pattern = pattern!(r"\S+(?: \S+)*");
    CELL.find_iter(line).map(|cell| (line[..cell.start()].chars().count(), cell.as_str())).collect()
}
