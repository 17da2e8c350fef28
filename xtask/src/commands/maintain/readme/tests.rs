use records::record::{Outcome, Record};

use super::*;

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
        let (Some(file), Some(threads)) = (named.next(), number("threads")) else { continue };
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
            let Outcome::Passed(passed) = &measurement.outcome else { continue };
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
    let error = fill("<!-- table: steps -->\n", &xtask_support::paths::repository());
    assert!(error.is_err_and(|error| error.to_string().contains("no `<!-- end -->`")));
}
