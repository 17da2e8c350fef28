//! `{{#counters}}`: counts of the emulated GPU beside those of Nsight Compute, from `kernels/counters.json`.
//!
//! `cargo xtask profile --table` writes that file, and a test counts again and compares; this module only reads it.

use std::fmt::{Display, Write as _};

use anyhow::{Context as _, Error, Result};
use catalog::Step;
use catalog::text::{escaped, grouped};
use records::profile::{Compared, Counted, SHEET, Sheet};

use crate::RepoPaths;
use crate::kernel_args::{find_kernel, parse_shape};
use crate::markdown::Table;
use crate::quote::Sources;

#[derive(Debug, Default)]
pub(crate) struct Counters(Sheet);

impl Counters {
    /// Reads the file; a missing file gives no counters.
    pub(crate) fn load(repo: &RepoPaths) -> Result<Self> {
        let text = repo.read(&repo.root().join(SHEET));
        text.map_or_else(|_| Ok(Self::default()), |text| Sheet::parse(&text).map(Self).map_err(Error::msg))
    }

    /// Returns the counters of a kernel at a size; without a size, at the first one on record.
    pub(crate) fn counted(&self, kernel: &str, size: Option<&str>) -> Result<&Counted> {
        let (step, kernel) = find_kernel(kernel)?;
        let at = size.map(|size| parse_shape(kernel.name, size)).transpose()?;
        let missing = || missing(kernel.name, size, step);
        self.0.find(kernel.name, at).with_context(missing)
    }

    /// Returns the source of a launch: `NVIDIA H200 (driver 580.159.04) with Nsight Compute 2025.3.1.0, 2026-11-21`.
    pub(crate) fn source(&self, counted: &Counted) -> Option<String> {
        let by = self.0.runs.iter().find(|by| by.run.id == counted.run)?;
        let day = catalog::text::day(&by.run.date);
        Some(format!("{} (driver {}) with {}, {day}", escaped(&by.run.device), by.driver_version, by.profiler))
    }

    /// Returns tables of a step's kernels at a size: `v05 1024`, optionally followed by the names of kernels.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        let (step, size, chosen) = match args {
            ["beside", size, one, other] => return self.comparison(size, [one, other], sources),
            [step, size, chosen @ ..] if *step != "beside" => (step, size, chosen),
            _ => {
                return Err(Error::msg(
                    "`{{#counters}}` wants a step and a size: {{#counters v05 1024}}, or two kernels: {{#counters beside 1024 ONE OTHER}}",
                ));
            }
        };
        let step = catalog::find(step)?;
        for name in chosen {
            find_kernel(name)?;
        }
        let mut out = String::new();
        for kernel in step.kernels {
            if !chosen.is_empty() && !chosen.contains(&kernel.name) {
                continue;
            }
            let Some(counted) = self.0.find(kernel.name, Some(parse_shape(kernel.name, size)?)) else { continue };
            sources.extend(self.source(counted));
            let rows: Vec<_> = { counted.compared().into_iter() }.map(|one| one.cells(kernel.name)).collect();
            // A column of reasons is noise where all counts are equal.
            let differs = rows.iter().any(|[.., difference, why]| difference != "0" || !why.is_empty());
            let _ = writeln!(out, "`{}` at {size}:\n", kernel.name);
            let why = if differs { " |" } else { "" };
            let mut table = Table::new(format!("counter | >emulated | >Nsight Compute{why}"));
            for [counter, emulated, measured, _, why] in rows {
                let cells: [&dyn Display; 4] = [&format!("`{counter}`"), &emulated, &measured, &why];
                table.row(&cells[..if differs { 4 } else { 3 }]);
            }
            let _ = writeln!(out, "{table}");
        }
        if out.is_empty() { Err(Error::msg(missing(step.id, Some(size), step))) } else { Ok(out) }
    }

    /// Compares two kernels in one table. The ratio comes before the counts, because a phone shows two columns.
    fn comparison(&self, size: &str, kernels: [&str; 2], sources: &mut Sources) -> Result<String> {
        let mut labels = Vec::new();
        let mut rows: [Vec<Compared>; 2] = [Vec::new(), Vec::new()];
        for (name, rows) in kernels.into_iter().zip(&mut rows) {
            let counted = self.counted(name, Some(size))?;
            *rows = counted.compared();
            sources.extend(self.source(counted));
            labels.push((find_kernel(name)?.0.id, name));
        }
        let one_step = labels[0].0 == labels[1].0;
        let [one, other] =
            [labels[0], labels[1]].map(|(step, name)| if one_step { format!("`{name}`") } else { step.to_owned() });
        let mut table = Table::new(format!(
            "at {size} | >{other} / {one} | >{one}, emulated | >{one}, Nsight | >{other}, emulated | >{other}, Nsight"
        ));
        let [first, second] = &rows;
        for one in first {
            let Some(beside) = second.iter().find(|beside| beside.pair == one.pair) else { continue };
            let ratio = match one.theirs {
                0 => "–".to_owned(),
                from => format!("{:.2}", beside.theirs as f64 / from as f64),
            };
            let numbers = [one.ours, one.theirs, beside.ours, beside.theirs].map(|n| grouped(n, " "));
            table.row(&[&format!("`{}`", one.pair.name), &ratio, &numbers.join(" | ")]);
        }
        Ok(table.to_string())
    }
}

fn missing(name: &str, size: Option<&str>, step: &Step) -> String {
    let at = size.map_or(String::new(), |size| format!(" at {size}"));
    format!(
        "{SHEET} has no counters of {name}{at}; measure them with: cargo xtask profile {} --save, then: cargo xtask profile --table",
        step.id
    )
}
