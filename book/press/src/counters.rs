//! `{{#counters}}`: what the emulated GPU counts beside what Nsight Compute reports, from `kernels/COUNTERS.md`.
//!
//! That page is made by `cargo xtask profile --table`, and a test counts again and compares; here it is only read.

use std::fmt::Write as _;

use crate::House;
use crate::records::{Sources, known, shape};

/// One line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    kernel: String,
    /// Sizes of the launch, such as `1024x1024x1024`.
    shape: String,
    counter: String,
    emulated: String,
    measured: String,
    difference: String,
    why: String,
}

/// The tables of `kernels/COUNTERS.md`.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    rows: Vec<Row>,
    /// `NVIDIA H200 …`: device, profiler, date.
    measured_on: Vec<String>,
}

impl Counters {
    /// Reads the page; an empty one where there is none.
    pub(crate) fn load(house: &House) -> Self {
        let path = house.root().join("kernels/COUNTERS.md");
        let Ok(text) = house.read(&path) else {
            return Self::default();
        };
        let mut counters = Self::default();
        let mut kernel = String::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                kernel = title.split(' ').next_back().unwrap_or_default().to_owned();
            }
            if let Some(rest) = line.strip_prefix("Measured on ") {
                // Of the time, the day is enough.
                let told = rest.split(", revision ").next().unwrap_or(rest);
                let told = told.rsplit_once('T').map_or(told, |(day, _)| day);
                counters.measured_on.push(told.to_owned());
            }
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [shape, counter, emulated, measured, difference, why] = cells[..] else {
                continue;
            };
            if kernel.is_empty() || !shape.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            counters.rows.push(Row {
                kernel: kernel.clone(),
                shape: shape.to_owned(),
                counter: counter.to_owned(),
                emulated: emulated.to_owned(),
                measured: measured.to_owned(),
                difference: difference.to_owned(),
                why: why.to_owned(),
            });
        }
        counters
    }

    /// A counter as the emulated GPU counts it.
    pub(crate) fn emulated(&self, kernel: &str, size: Option<&str>, counter: &str) -> Option<f64> {
        count(self.emulated_text(kernel, size, counter)?)
    }

    fn emulated_text(&self, kernel: &str, size: Option<&str>, counter: &str) -> Option<&str> {
        let wanted = match size {
            Some(size) => Some(shape(kernel, size).ok()?.to_string()),
            None => None,
        };
        let is_it = |row: &&Row| {
            row.kernel == kernel && row.counter == counter && wanted.as_ref().is_none_or(|w| row.shape == *w)
        };
        self.rows.iter().find(is_it).map(|row| row.emulated.as_str())
    }

    /// The first size that is known of a kernel: what is meant when none is said.
    pub(crate) fn first_size(&self, kernel: &str) -> Option<&str> {
        self.rows
            .iter()
            .find(|row| row.kernel == kernel)
            .map(|row| row.shape.as_str())
    }

    /// The counters that are known of a kernel.
    pub(crate) fn names(&self, kernel: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.kernel == kernel) {
            if !names.contains(&row.counter.as_str()) {
                names.push(&row.counter);
            }
        }
        names
    }

    /// Device, profiler and date.
    pub(crate) fn source(&self) -> String {
        self.measured_on.join("; ")
    }

    /// Tables of a step's kernels at a size: `v05 1024`, and names of kernels to choose some.
    ///
    /// # Errors
    /// When nothing is known of them.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String, String> {
        let (step, size, chosen) = match args {
            ["beside", size, one, other] => return self.beside(size, [one, other], sources),
            [step, size, chosen @ ..] if *step != "beside" => (step, size, chosen),
            _ => {
                return Err("`{{#counters}}` wants a step and a size: {{#counters v05 1024}}, or two kernels: {{#counters beside 1024 ONE OTHER}}".into());
            }
        };
        let step = ladder::find(step).map_err(|error| error.to_string())?;
        for name in chosen {
            known(name)?;
        }
        let mut out = String::new();
        for kernel in step.kernels {
            if !chosen.is_empty() && !chosen.contains(&kernel.name) {
                continue;
            }
            let wanted = shape(kernel.name, size)?.to_string();
            let is_it = |row: &&Row| row.kernel == kernel.name && row.shape == wanted;
            let rows: Vec<&Row> = self.rows.iter().filter(is_it).collect();
            if rows.is_empty() {
                continue;
            }
            // Where all is equal, a column that says so is noise.
            let differs = rows
                .iter()
                .any(|row| row.difference != "0" || !row.why.is_empty());
            let _ = writeln!(out, "`{}` at {size}:\n", kernel.name);
            out.push_str(match differs {
                true => "| counter | emulated | Nsight Compute | |\n| --- | ---: | ---: | --- |\n",
                false => "| counter | emulated | Nsight Compute |\n| --- | ---: | ---: |\n",
            });
            for row in rows {
                let _ = write!(out, "| `{}` | {} | {} |", row.counter, row.emulated, row.measured);
                let _ = match differs {
                    true => writeln!(out, " {} |", row.why),
                    false => writeln!(out),
                };
            }
            out.push('\n');
        }
        if out.is_empty() {
            return Err(format!(
                "kernels/COUNTERS.md has no counters of {} at {size}; measure them with: cargo xtask profile {} --save, then: cargo xtask profile --table",
                step.id, step.id
            ));
        }
        sources.extend(self.measured_on.iter().cloned());
        Ok(out)
    }

    /// Two kernels in one table. How many times the first the second has, as measured, comes before the numbers: a
    /// phone shows two columns.
    fn beside(&self, size: &str, kernels: [&str; 2], sources: &mut Sources) -> Result<String, String> {
        let mut labels = Vec::new();
        let mut rows: [Vec<&Row>; 2] = [Vec::new(), Vec::new()];
        for (name, rows) in kernels.into_iter().zip(&mut rows) {
            let (step, kernel) = known(name)?;
            let wanted = shape(kernel.name, size)?.to_string();
            let is_it = |row: &&Row| row.kernel == kernel.name && row.shape == wanted;
            rows.extend(self.rows.iter().filter(is_it));
            if rows.is_empty() {
                return Err(format!("kernels/COUNTERS.md has no counters of {name} at {size}"));
            }
            labels.push((step.id, name));
        }
        let one_step = labels[0].0 == labels[1].0;
        let [one, other] = [labels[0], labels[1]].map(|(step, name)| match one_step {
            true => format!("`{name}`"),
            false => step.to_owned(),
        });
        let mut out = format!(
            "| at {size} | {other} / {one} | {one}, emulated | {one}, Nsight | {other}, emulated | {other}, Nsight |\n| --- | ---: | ---: | ---: | ---: | ---: |\n"
        );
        let [first, second] = &rows;
        for row in first {
            let Some(beside) = second.iter().find(|beside| beside.counter == row.counter) else {
                continue;
            };
            let ratio = match (count(&row.measured), count(&beside.measured)) {
                (Some(from), Some(to)) if from > 0.0 => format!("{:.2}", to / from),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                out,
                "| `{}` | {ratio} | {} | {} | {} | {} |",
                row.counter, row.emulated, row.measured, beside.emulated, beside.measured
            );
        }
        sources.extend(self.measured_on.iter().cloned());
        Ok(out)
    }
}

/// `1 073 741 824`
fn count(text: &str) -> Option<f64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}
