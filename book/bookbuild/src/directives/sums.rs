//! `{{#sums v12}}`: the shapes on which C is bit-equal to cuBLAS's C, by recorded checksums.

use anyhow::{Result, bail};
use catalog::CatalogKernel;
use records::sums::{Sum, SumsRecord};

use crate::RepoPaths;
use crate::markdown::Table;
use crate::quote::{Sources, run_source};

pub(crate) fn table(repo: &RepoPaths, step: &str, sources: &mut Sources) -> Result<String> {
    let step = catalog::find(step)?;
    let record = SumsRecord::references(&repo.data())?;
    let mut table = Table::new("kernel | >shapes | same bits as cuBLAS");
    for kernel in step.kernels {
        let sums: Vec<&Sum> = record.sums.iter().filter(|sum| sum.kernel == kernel.name).collect();
        if sums.is_empty() {
            continue;
        }
        sources.extend(sums.iter().filter_map(|sum| provenance(&record, kernel, sum)));
        table.row(&[&format!("`{}`", kernel.name), &sums.len(), &comparison_with_cublas(&sums)]);
    }
    if table.n_rows == 0 {
        bail!("no checksums of {0} are on record; on a GPU, `cargo xtask sums {0} --save` computes them", step.id);
    }
    Ok(table.to_string())
}

fn provenance(record: &SumsRecord, kernel: &CatalogKernel, sum: &Sum) -> Option<String> {
    let run = record.runs.iter().find(|run| run.id == sum.run)?;
    Some(run_source(run, kernel.work))
}

/// Lists the shapes with the same C as cuBLAS, or those with another one, whichever is shorter.
fn comparison_with_cublas(sums: &[&Sum]) -> String {
    let shapes = |wanted: bool| -> Vec<String> {
        let chosen = sums.iter().filter(|sum| sum.is_cublas() == Some(wanted));
        chosen.map(|sum| sum.shape.to_string()).collect()
    };
    let (same, other) = (shapes(true), shapes(false));
    match (same.len(), other.len()) {
        (0, 0) => "cuBLAS did not run".into(),
        (_, 0) => "yes".into(),
        (0, _) => "no".into(),
        (n, m) if n < m => format!("only on {}", same.join(", ")),
        _ => format!("yes, but not on {}", other.join(", ")),
    }
}
