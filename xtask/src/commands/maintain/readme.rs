//! `cargo xtask readme`: the parts of README.md, CONTRIBUTING.md and others that come from elsewhere.
//!
//! A part stands between `<!-- include: PATH -->`, or `<!-- table: NAME [RECORD] -->`, and `<!-- end -->`. It is
//! generated; a test fails when it differs from what the files, or the declarations of the commands, give.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use catalog::{STEPS, Shape, Work, provenance};
use clap::Parser;
use records::record::{Measurement, Outcome, Record, Samples, VerifiedRun};
use serde_json::Value;
use xtask_support::CommandOutcome;
use xtask_support::{output, table};

use crate::commands;

/// Command line of `readme`.
#[derive(Parser)]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
}

/// The files with such parts.
const FILES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "steps/README.md", "kernels/README.md"];

/// Fills the parts, or with `--check` lists the stale ones.
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
        let Some(directive) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let Some((kind, what)) = directive.split_once(": ") else {
            continue;
        };
        let part = match kind {
            "include" => include(root, what)?,
            "table" => table(root, what)?,
            _ => bail!("unknown directive `{line}`"),
        };
        out.push_str(&part);
        if !lines.by_ref().any(|line| line == "<!-- end -->") {
            bail!("`{line}` has no `<!-- end -->`");
        }
        out.push_str("<!-- end -->\n");
    }
    Ok(out)
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("{path} cannot be read"))
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
        "steps" => return Ok(steps()),
        "commands" => return Ok(commands::table()),
        "kernels" => return kernels(root),
        "products" => return products(root, path),
        "transposes" => return transposes(root, path),
        "speed" => speed,
        _ => bail!("no table is called `{name}`"),
    };
    let record: Value = serde_json::from_str(&read(root, path)?).with_context(|| format!("reading {path}"))?;
    rows(&record).with_context(|| format!("{path} is not a record for the table `{name}`"))
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

/// Makes the table `FILE SIZE OTHER`: the measured products at one size, a row per kernel, beside the numbers of
/// another device.
fn products(root: &Path, words: &str) -> Result<String> {
    let products = |work| !matches!(work, Work::Transpose | Work::Cpu);
    let [rate, of] = ["GFLOP/s", "% of cuBLAS"];
    rows(root, words, products, &["step", "kernel"], [rate, of], table::gflops)
}

/// Makes the table `FILE SIZE OTHER`: the measured transposes at one size, likewise.
fn transposes(root: &Path, words: &str) -> Result<String> {
    let transposes = |work| work == Work::Transpose;
    rows(root, words, transposes, &["kernel"], ["GB/s", "% of a copy"], table::gbs)
}

/// Returns a table of kernels: their names, the time and its spread, a rate, and the part of a yardstick.
fn rows(
    root: &Path,
    words: &str,
    wanted: fn(Work) -> bool,
    names: &[&str],
    columns: [&str; 2],
    rate: fn(&Measurement, &VerifiedRun) -> Option<f64>,
) -> Result<String> {
    let (path, rest) = words.split_once(' ').with_context(|| format!("`{words}` is not a file and a size"))?;
    let (size, other) = rest.split_once(' ').unzip();
    let size = size.unwrap_or(rest);
    let size: Shape = size.parse()?;
    let record = Record::load(&root.join(path))?;
    let other = other.map(|path| Record::load(&root.join(path))).transpose()?;
    let shape = if wanted(Work::Transpose) { Shape { k: 0, ..size } } else { size };
    let rows = measured(&record, shape, wanted)?;
    let beside = other.as_ref().map(|other| measured(other, shape, wanted)).transpose()?;

    let mut out = source(&record, &rows);
    let mut head: Vec<String> = names.iter().copied().chain(["ms", "spread"]).map(str::to_owned).collect();
    head.extend(columns.map(str::to_owned));
    if let Some((other, beside)) = other.as_ref().zip(beside.as_ref()) {
        let _ = write!(out, "; {}", source(other, beside));
        let device = device(other, beside);
        head.extend(columns.map(|column| format!("{device}: {column}")));
    }
    let _ = write!(out, "; {shape}, medians with warm caches:\n\n");
    let dashes: Vec<&str> = (0..head.len()).map(|at| if at < names.len() { "---" } else { "---:" }).collect();
    let _ = writeln!(out, "| {} |\n| {} |", head.join(" | "), dashes.join(" | "));
    let numbers = |one: &Measurement, passed: &VerifiedRun| {
        let part = table::of_yardstick(passed).map_or(String::new(), |part| format!("{part:.1}"));
        [rate(one, passed).map(table::rate).unwrap_or_default(), part]
    };
    let rates = |row: Option<&Row>| row.map_or_else(Default::default, |(one, passed, _)| numbers(one, passed));
    for (step, kernel) in STEPS.iter().flat_map(|step| step.kernels.iter().map(move |kernel| (step, kernel))) {
        let here = of(&rows, kernel.name);
        let there = beside.as_ref().and_then(|beside| of(beside, kernel.name));
        // Some kernels were timed on the other device only.
        if here.is_none() && there.is_none() {
            continue;
        }
        let mut cells = vec![kernel.name.to_owned()];
        if names.len() > 1 {
            cells.insert(0, step.id.to_owned());
        }
        cells.extend(here.map_or_else(Default::default, |(.., hot)| {
            [table::milliseconds(hot.median()), format!("{:.1} %", hot.spread() * 100.0)]
        }));
        cells.extend(rates(here));
        if beside.is_some() {
            cells.extend(rates(there));
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    Ok(out)
}

/// Shortens a device's name: `H100` for `NVIDIA H100 80GB HBM3`.
fn device(record: &Record, rows: &[Row]) -> String {
    let run = rows.first().and_then(|(one, ..)| record.run_of(one));
    match run.map_or("", |run| catalog::text::short_device(&run.device)) {
        "" => "other".into(),
        name => name.into(),
    }
}

type Row<'a> = (&'a Measurement, &'a VerifiedRun, &'a Samples);

fn of<'a>(rows: &'a [Row<'a>], kernel: &str) -> Option<&'a Row<'a>> {
    rows.iter().find(|(one, ..)| one.kernel == kernel)
}

/// Returns the origin of the numbers of a table: a device, and the days.
fn source(record: &Record, rows: &[Row]) -> String {
    let one = rows.first().map(|(one, ..)| *one);
    let Some(run) = one.and_then(|one| record.run_of(one)) else {
        return String::new();
    };
    let days = record.days(rows.iter().map(|(one, ..)| *one));
    format!("{}, driver for CUDA {}, {days}", run.device, run.driver)
}

/// Returns the timed measurements on a shape, in the order of the catalogue.
fn measured(record: &Record, shape: Shape, wanted: fn(Work) -> bool) -> Result<Vec<Row<'_>>> {
    let kernels = STEPS.iter().flat_map(|step| step.kernels);
    let rows: Vec<Row> = kernels
        .filter(|kernel| wanted(kernel.work))
        .filter_map(|kernel| record.measurement(kernel.name, shape))
        .filter_map(|one| match &one.outcome {
            Outcome::Passed(passed) => Some((one, passed.as_ref(), passed.hot.as_ref()?)),
            _ => None,
        })
        .collect();
    if rows.is_empty() { bail!("the record has no times on {shape}") } else { Ok(rows) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readme_says_what_its_files_say() {
        let verdict = run(&Args { check: true }).expect("files to read");
        assert_eq!(verdict, CommandOutcome::Passed);
    }

    /// The launches that kernels/README.md states are those that were measured.
    #[test]
    fn stated_launches_are_the_recorded_ones() {
        let root = xtask_support::paths::repository();
        let record = Record::load(&root.join("book/data/h200.json")).expect("a record");
        let text = read(&root, "kernels/README.md").expect("a README");
        let (mut columns, mut found) = (Vec::new(), 0);
        for line in text.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if cells[1] == "file" {
                columns.clone_from(&cells);
            }
            let number = |title: &str| {
                let at = columns.iter().position(|column| *column == title)?;
                cells.get(at)?.parse::<u32>().ok()
            };
            // `v12_store.cu`: `store_192`
            let mut named = cells[1].split('`').skip(1).step_by(2);
            let (Some(file), Some(threads)) = (named.next(), number("threads")) else {
                continue;
            };
            let source = file.trim_end_matches(".cu");
            let entry = named.next().and_then(|name| Some((source.split_once('_')?.0, name)));
            let is_meant = |kernel: &str| {
                entry.is_none_or(|(step, name)| {
                    let (_, rest) = kernel.split_once(&format!("{step}_")).unwrap_or_default();
                    rest.trim_end_matches("_f32").trim_end_matches("_bf16") == name
                })
            };
            let of_source = |name: &str| {
                let mut kernels = STEPS.iter().flat_map(|step| step.kernels);
                kernels.any(|kernel| kernel.name == name && kernel.source == Some(source))
            };
            for measurement in &record.measurements {
                let Outcome::Passed(passed) = &measurement.outcome else {
                    continue;
                };
                if !of_source(&measurement.kernel) || !is_meant(&measurement.kernel) {
                    continue;
                }
                // `v02_shared.cu` has two tiles, and a row for each; the second names no file.
                if source != "v02_shared" {
                    assert_eq!(passed.block[0], threads, "{}: {line}", measurement.kernel);
                }
                if let Some(bytes) = number("dynamic shared bytes") {
                    assert_eq!(passed.dynamic_shared, bytes, "{}: {line}", measurement.kernel);
                }
                found += 1;
            }
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn a_part_without_an_end_is_an_error() {
        let error = fill("<!-- include: Cargo.toml -->\n", &xtask_support::paths::repository());
        assert!(error.is_err_and(|error| error.to_string().contains("no `<!-- end -->`")));
    }

    #[test]
    fn a_table_of_times_comes_from_a_record() {
        let record = r#"{"schema": 1,
            "runs": [{"id": "one", "date": "2026-11-21T10:00:00Z", "device": "NVIDIA Test", "emulated": false,
                "capability": "9.0", "driver": "13.0", "host": "", "revision": "", "roofline": null, "cublas": null}],
            "measurements": [{"run": "one", "step": "v05", "kernel": "sgemm_v05_bank_conflict_free",
                "shape": {"m": 1000, "n": 1000, "k": 1000}, "seed": 1, "ptx_sha256": "", "outcome": {"passed": {
                "grid": [1, 1, 1], "block": [1, 1, 1], "dynamic_shared": 0,
                "accuracy": {"max_abs_error": 0.0, "max_of_bound": 0.0, "exact_on_integers": true}, "batch": 1,
                "hot": [0.5, 0.4, 0.6], "cold": null, "whole": null, "cpu_ms": null,
                "yardstick": {"name": "cuBLAS", "hot": [0.4]}, "clock_mhz": null, "counters": null}}}]}"#;
        let folder = std::env::temp_dir().join(format!("xtask-readme-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("r.json"), record).expect("a file");
        let table = products(&folder, "r.json 1000");
        let absent = products(&folder, "r.json 2000");
        std::fs::remove_dir_all(&folder).expect("a folder");
        insta::assert_snapshot!(table.expect("a table"), @r"
        NVIDIA Test, driver for CUDA 13.0, 2026-11-21; 1000x1000x1000, medians with warm caches:

        | step | kernel | ms | spread | GFLOP/s | % of cuBLAS |
        | --- | --- | ---: | ---: | ---: | ---: |
        | v05 | sgemm_v05_bank_conflict_free | 0.500 | 20.0 % | 4000 | 80.0 |
        ");
        assert_eq!(absent.expect_err("not measured").to_string(), "the record has no times on 2000x2000x2000");
    }
}
