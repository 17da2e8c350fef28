//! `cargo xtask readme`: the parts of README.md, CONTRIBUTING.md and others that come from elsewhere.
//!
//! A part stands between `<!-- include: SNAPSHOT -->`, or `<!-- table: NAME [RECORD] -->`, and `<!-- end -->`. It is
//! generated; a test fails when it differs from what the files, or the declarations of the commands, give.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use catalog::{STEPS, provenance};
use clap::Parser;
use serde_json::Value;
use xtask_support::{CommandOutcome, output};

use crate::commands;

/// Command line of `readme`.
#[derive(Parser)]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
}

/// The files with such parts.
const FILES: [&str; 5] = ["README.md", "CONTRIBUTING.md", "steps/README.md", "kernels/README.md", "emulator/README.md"];

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = xtask_support::paths::repository();
    if !args.check {
        return fill_all(&root);
    }
    let stale = stale(&root)?;
    for (file, line) in &stale {
        output::error(&format!("{file}:{line} is out of date; update it with: cargo xtask readme"));
    }
    Ok(if stale.is_empty() { CommandOutcome::Passed } else { CommandOutcome::Failed })
}

/// Writes what is stale.
pub(crate) fn fill_all(root: &Path) -> Result<CommandOutcome> {
    for (file, _) in stale(root)? {
        let new = fill(&read(root, file)?, root)?;
        catalog::files::write_whole(&root.join(file), &new).with_context(|| format!("writing {file}"))?;
        output::note(&format!("wrote {file}"));
    }
    Ok(CommandOutcome::Passed)
}

/// Returns, for each file with a stale part, the first line that differs from what would be generated.
pub(crate) fn stale(root: &Path) -> Result<Vec<(&'static str, usize)>> {
    let mut found = Vec::new();
    for file in FILES {
        let old = read(root, file)?;
        let new = fill(&old, root).with_context(|| format!("filling {file}"))?;
        let first = old.lines().zip(new.lines()).position(|(old, new)| old != new);
        if old != new {
            found.push((file, first.map_or(1, |at| at + 1)));
        }
    }
    Ok(found)
}

/// Returns the text with every generated part made anew.
fn fill(text: &str, root: &Path) -> Result<String> {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let Some(directive) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let Some((kind, what)) = directive.split_once(": ") else { continue };
        let part = match kind {
            "include" => include(root, what)?,
            "table" => table(root, what)?,
            _ => bail!("unknown directive `{line}`"),
        };
        out.push_str(&part);
        ensure!(lines.by_ref().any(|line| line == "<!-- end -->"), "`{line}` has no `<!-- end -->`");
        out.push_str("<!-- end -->\n");
    }
    Ok(out)
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("{path} cannot be read"))
}

fn include(root: &Path, path: &str) -> Result<String> {
    let text = read(root, path)?;
    // A snapshot opens with its own header; the first message in it is enough.
    let messages = text.splitn(3, "---\n").nth(2).with_context(|| format!("{path} is not a snapshot"))?;
    Ok(format!("```text\n{}\n```\n", messages.split("\n\n").next().unwrap_or_default().trim_end()))
}

fn table(root: &Path, what: &str) -> Result<String> {
    let (name, path) = what.split_once(' ').unwrap_or((what, ""));
    match name {
        "steps" => Ok(steps()),
        "commands" => Ok(commands::table()),
        "kernels" => kernels(root),
        "speed" => {
            let record = serde_json::from_str(&read(root, path)?).with_context(|| format!("reading {path}"))?;
            speed(&record).with_context(|| format!("{path} is not a record for the table `speed`"))
        }
        _ => bail!("no table is called `{name}`"),
    }
}

/// Returns one row per step.
fn steps() -> String {
    let mut out = String::from("| step | name | the one idea |\n| --- | --- | --- |\n");
    for step in STEPS {
        let _ = writeln!(out, "| {} | {} | {} |", step.id, step.name, step.idea);
    }
    out
}

/// Returns one row per kernel: ptxas's report on it, from the header of its PTX.
fn kernels(root: &Path) -> Result<String> {
    const DEVICES: [&str; 3] = ["sm_75", "sm_80", "sm_90"];
    let mut out = format!(
        "| kernel | source | registers on {} | shared bytes | spilled on sm_90 |\n| --- | --- | --- | ---: | ---: |\n",
        DEVICES.join(", ")
    );
    for kernel in STEPS.iter().flat_map(|step| step.kernels) {
        let Some(source) = kernel.source else { continue };
        let ptx = read(root, &format!("kernels/ptx/{source}.ptx"))?;
        let of = |device, unit| provenance::ptxas(&ptx, kernel.name, device, unit).unwrap_or("–");
        let registers = DEVICES.map(|device| of(device, "registers"));
        let _ = writeln!(
            out,
            "| {} | {source}.cu | {} | {} | {} |",
            kernel.name,
            registers.join(", "),
            of("sm_90", "bytes smem"),
            of("sm_90", "bytes spilled")
        );
    }
    Ok(out)
}

/// Returns one row per kernel and number of cores; plain, counted, checked side by side.
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
                row["watch"] == watch && row["kernel"] == checked["kernel"] && row["threads"] == checked["threads"]
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
