//! `{{#duels v12}}`: speed of kernels beside cuBLAS in turns, from `cargo xtask bench v12 --duel --save`.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use catalog::text::short_device;
use catalog::{CatalogKernel, Shape};
use records::duel::Duel;
use records::{Outcome, Record, Run};

use crate::directives::record_lookup::Records;
use crate::kernel_args::{kernels_and_sizes, parse_shape};
use crate::markdown::Table;
use crate::quote::{Sources, run_source};

struct DuelRow<'r> {
    shape: Shape,
    /// Place of the kernel among those of the table.
    index: usize,
    kernel: &'static CatalogKernel,
    run: &'r Run,
    duel: &'r Duel,
    /// Index of the cublasLt algorithm that it ran against.
    algorithm: Option<usize>,
}

impl Records {
    /// Returns the table of a step, optionally only of the sizes and kernels that follow.
    pub(crate) fn duels(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        let (step, choice) = args.split_first().context("`{{#duels}}` takes a step: {{#duels v12}}")?;
        let step = catalog::find(step)?;
        let mut rows = Vec::new();
        let (kernels, sizes) = kernels_and_sizes(step, choice)?;
        for (index, kernel) in kernels.into_iter().enumerate() {
            let wanted: Vec<Shape> =
                sizes.iter().map(|size| parse_shape(kernel.name, size)).collect::<Result<_, _>>()?;
            let all = self.real().into_iter().flat_map(|record| rows_of(record, kernel, index));
            rows.extend(all.filter(|row| wanted.is_empty() || wanted.contains(&row.shape)));
        }
        if rows.is_empty() {
            bail!("no duel of {0} is on record; measure it with: cargo xtask bench {0} --duel --save", step.id);
        }
        rows.sort_by_key(|row| (row.shape.m * row.shape.n * row.shape.k, row.shape, row.index));
        let mut table =
            Table::new("size | kernel | GPU | >without pauses, of cuBLAS | >after pauses, of cuBLAS | cuBLAS is");
        let mut runs = BTreeSet::new();
        for row in &rows {
            runs.insert(run_source(row.run, row.kernel.work));
            let opponent = match row.algorithm {
                Some(number) => format!("cublasLt's algorithm {}", number + 1),
                None => "its own choice".into(),
            };
            let Duel { sustained, burst, .. } = row.duel;
            let sustained = sustained.map_or("–".into(), |speed| speed.percent());
            let (kernel, device) = (format!("`{}`", row.kernel.name), short_device(&row.run.device));
            table.row(&[&row.shape.short(), &kernel, &device, &sustained, &burst.percent(), &opponent]);
        }
        let runs: Vec<String> = runs.into_iter().collect();
        sources.extend(runs.iter().cloned());
        Ok(format!("{}.\n\n{table}\n", runs.join("; ")))
    }
}

fn rows_of<'r>(record: &'r Record, kernel: &'static CatalogKernel, index: usize) -> impl Iterator<Item = DuelRow<'r>> {
    let measurements = record.measurements.iter().filter(|measurement| measurement.kernel == kernel.name);
    measurements.filter_map(move |measurement| {
        let Outcome::Passed(passed) = &measurement.outcome else { return None };
        let yardstick = passed.yardstick.as_ref()?;
        let duel = yardstick.duel.as_ref()?;
        let (run, algorithm) = match &duel.earlier {
            Some(earlier) => (record.run(&earlier.run)?, earlier.algorithm),
            None => (record.run_of(measurement)?, yardstick.algorithm),
        };
        Some(DuelRow { shape: measurement.shape, index, kernel, run, duel, algorithm })
    })
}
