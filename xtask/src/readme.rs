//! `cargo xtask readme`: the parts of README.md that come from other files.
//!
//! A part stands between `<!-- include: PATH -->`, or `<!-- table: speed RECORD… -->`, and `<!-- end -->`. Nobody
//! types what is in between; a test fails when it is not what the files say.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde_json::Value;

use crate::{Verdict, say};

/// Command line of `readme`.
#[derive(Parser)]
pub(crate) struct Args {
    /// Write nothing; fail when README.md is not what the files say
    #[arg(long)]
    check: bool,
}

/// Fills README.md, or says that it is stale.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = &crate::ptx::repository();
    let path = root.join("README.md");
    let old = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let new = fill(&old, root)?;
    if new == old {
        return Ok(Verdict::Passed);
    }
    if args.check {
        say::error("README.md is not what the files it quotes say; update it with: cargo xtask readme");
        return Ok(Verdict::Failed);
    }
    std::fs::write(&path, new).with_context(|| format!("writing {}", path.display()))?;
    Ok(Verdict::Passed)
}

/// The first line of README.md that differs from what the files say.
pub(crate) fn stale(root: &Path) -> Result<Option<usize>> {
    let old = read(root, "README.md")?;
    let new = fill(&old, root)?;
    let different = |(old, new): (&str, &str)| old != new;
    let first = old.lines().zip(new.lines()).position(different);
    Ok((old != new).then(|| first.map_or(1, |at| at + 1)))
}

/// The text with every generated part made anew.
fn fill(text: &str, root: &Path) -> Result<String> {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let Some(directive) = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"))
        else {
            continue;
        };
        let Some((kind, what)) = directive.split_once(": ") else {
            continue;
        };
        let part = match kind {
            "include" => include(root, what)?,
            "table" => table(root, what)?,
            _ => bail!("README.md: unknown directive `{line}`"),
        };
        out.push_str(&part);
        if !lines.by_ref().any(|line| line == "<!-- end -->") {
            bail!("README.md: `{line}` has no `<!-- end -->`");
        }
        out.push_str("<!-- end -->\n");
    }
    Ok(out)
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path))
        .with_context(|| format!("README.md quotes {path}, which cannot be read"))
}

fn include(root: &Path, path: &str) -> Result<String> {
    let text = read(root, path)?;
    let (text, language) = match path.rsplit_once('.') {
        // A snapshot opens with its own header; the first message in it is enough.
        Some((_, "snap")) => {
            let messages = text.splitn(3, "---\n").nth(2).unwrap_or_default();
            (messages.split("\n\n").next().unwrap_or_default(), "text")
        }
        Some((_, "rs")) => (text.as_str(), "rust"),
        _ => (text.as_str(), "text"),
    };
    Ok(format!("```{language}\n{}\n```\n", text.trim_end()))
}

fn table(root: &Path, what: &str) -> Result<String> {
    let (name, path) = what.split_once(' ').unwrap_or((what, ""));
    let rows: fn(&Value) -> Option<String> = match name {
        "speed" => speed,
        "peers" => peers,
        _ => bail!("README.md: no table is called `{name}`"),
    };
    let record: Value =
        serde_json::from_str(&read(root, path)?).with_context(|| format!("reading {path}"))?;
    rows(&record).with_context(|| format!("{path} is not a record for the table `{name}`"))
}

/// One row per kernel and number of cores; plain, counted, checked side by side.
fn speed(record: &Value) -> Option<String> {
    let mut out = format!(
        "{}, {} cores, {}:\n\n| kernel | cores | plain | counted | checked | + global races | checked, M/s | vs native |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        record["machine"].as_str()?,
        record["cores"],
        record["date"].as_str()?
    );
    let rows = record["rows"].as_array()?;
    for checked in rows.iter().filter(|row| row["watch"] == "checked") {
        let rate = |watch: &str| {
            let same = |row: &&Value| {
                row["watch"] == watch
                    && row["kernel"] == checked["kernel"]
                    && row["threads"] == checked["threads"]
            };
            Some(rows.iter().find(same)?["thread_instructions_per_second"].as_f64()? / 1e9)
        };
        let _ = writeln!(
            out,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} {} | {:.2} |",
            checked["kernel"].as_str()?,
            checked["threads"],
            rate("plain")?,
            rate("counted")?,
            rate("checked")?,
            rate("+ global races")?,
            checked["work_per_second"].as_f64()? / 1e6,
            checked["unit"].as_str()?,
            checked["ratio_to_native"].as_f64()?
        );
    }
    Some(out)
}

/// One row per kernel: the peer, and ours.
fn peers(record: &Value) -> Option<String> {
    let mut out = format!(
        "{} ({}):\n\n| kernel | {} | ours, all checks on |\n| --- | ---: | ---: |\n",
        record["what"].as_str()?,
        record["date"].as_str()?,
        record["peer"].as_str()?
    );
    for row in record["rows"].as_array()? {
        let peer = match row["ptoxide"].as_f64() {
            Some(rate) => format!("{rate:.1}"),
            None => format!(
                "cannot run it ({})",
                row["ptoxide_says"].as_str()?.replace('|', "/")
            ),
        };
        let _ = writeln!(
            out,
            "| {} | {peer} | {:.0} |",
            row["kernel"].as_str()?,
            row["ours_checked"].as_f64()?
        );
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readme_says_what_its_files_say() {
        let verdict = run(&Args { check: true }).expect("files to read");
        assert_eq!(verdict, Verdict::Passed);
    }

    #[test]
    fn a_part_without_an_end_is_an_error() {
        let error = fill("<!-- include: Cargo.toml -->\n", &crate::ptx::repository());
        assert!(error.is_err_and(|error| error.to_string().contains("no `<!-- end -->`")));
    }
}
