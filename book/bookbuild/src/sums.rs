//! `{{#sums v12}}`: on how many shapes C has the bits of cuBLAS's, by the checksums on record.

use std::fmt::Write as _;

use catalog::Kernel;
use records::sums::{Record, Sum};

use crate::RepoPaths;
use crate::records::{Sources, source};

/// The table of a step; where no GPU has computed the sums yet, the command that does.
///
/// # Errors
/// When there is no such step, or the record is something else.
pub(crate) fn table(repo: &RepoPaths, step: &str, sources: &mut Sources) -> Result<String, String> {
    let step = catalog::find(step).map_err(|error| error.to_string())?;
    let record = Record::references(&repo.data()).map_err(|error| error.to_string())?;
    let mut rows = String::new();
    for kernel in step.kernels {
        let sums: Vec<&Sum> = record
            .sums
            .iter()
            .filter(|sum| sum.kernel == kernel.name)
            .collect();
        if sums.is_empty() {
            continue;
        }
        sources.extend(sums.iter().filter_map(|sum| provenance(&record, kernel, sum)));
        let _ = writeln!(rows, "| `{}` | {} | {} |", kernel.name, sums.len(), beside(&sums));
    }
    Ok(match rows.is_empty() {
        true => format!(
            "No checksums of these kernels are on record yet; on a GPU, `cargo xtask sums {} --save` computes them.\n",
            step.id
        ),
        false => format!("| kernel | shapes | same bits as cuBLAS |\n| --- | ---: | --- |\n{rows}"),
    })
}

fn provenance(record: &Record, kernel: &Kernel, sum: &Sum) -> Option<String> {
    let run = record.runs.iter().find(|run| run.id == sum.run)?;
    Some(source(run, kernel.work))
}

/// On which of the shapes cuBLAS's C is the same; the shorter of the two lists.
fn beside(sums: &[&Sum]) -> String {
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
