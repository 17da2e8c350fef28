//! Measured peak rates of tensor cores: `{{#ceilings UNIT…}}`, and `{{#n ceiling UNIT ELEMENTS WHAT}}` in a sentence.
//! `steps/v12/examples/ceilings.rs` measures them.

#[cfg(test)]
mod tests;

use anyhow::{Context as _, Error, Result, ensure};
use catalog::text::{day, escaped};
use catalog::{Work, files::files_ending_with};
use records::ceilings::{Ceiling, Ceilings, L2, Rate};

use crate::quote::{Sources, digits, quoted_from, run_source};
use crate::{RepoPaths, markdown::Table};

/// Loads the records of all devices, each with the first part of its file name.
pub(crate) fn load(repo: &RepoPaths) -> Result<Vec<(String, Ceilings)>> {
    const END: &str = "-ceilings.json";
    let mut all = Vec::new();
    for path in files_ending_with(&repo.data(), END).unwrap_or_default() {
        let record = Ceilings::parse(&repo.read(&path)?).with_context(|| repo.display_path(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        all.push((name.trim_end_matches(END).to_owned(), record));
    }
    Ok(all)
}

/// Expands `{{#ceilings fma mma.sync}}`: a table of the instructions whose names begin with one of `units`.
pub(crate) fn table(record: &Ceilings, units: &[&str], sources: &mut Sources) -> Result<String> {
    if units.is_empty() {
        return Err(Error::msg("`{{#ceilings}}` wants beginnings of instructions, such as `fma mma.sync`"));
    }
    let (source, l2) = (run_source(&record.run, Work::Sgemm), l2_source(record));
    let head = format!(
        "Instructions alone, {source}; L2, {l2}. Burst: {} ms, the median of some with pauses; sustained: {} ms. Clocks: for an \
         instruction of a quarter of a multiprocessor; a `wgmma` occupies all four. The last two columns are operations \
         for each byte that a kernel needs to keep up with the burst.\n\n",
        median_ms(record, |ceiling| &ceiling.burst),
        median_ms(record, |ceiling| &ceiling.sustained),
    );
    let mut table = Table::new(
        "instruction | elements | >warps | >burst, TFLOP/s | >GHz | >clocks | >sustained, TFLOP/s | >GHz \
         | >FLOP per byte of device memory | >of L2",
    );
    for unit in units {
        let rows = record.ceilings.iter().filter(|ceiling| ceiling.instruction.starts_with(unit));
        let before = table.n_rows;
        for ceiling in rows {
            let (burst, sustained) = (&ceiling.burst, &ceiling.sustained);
            let zeros = if ceiling.zeros { ", all zero" } else { "" };
            let per_byte = record.per_byte(burst.tflops);
            table.row(&[
                &format!("`{}`", ceiling.instruction),
                &format!("{}{zeros}", ceiling.numbers.to_uppercase().replace("BF16", "bf16")),
                &ceiling.warps,
                &digits(burst.tflops, 3),
                &format!("{:.2}", burst.ghz),
                &digits(burst.clocks, 3),
                &digits(sustained.tflops, 3),
                &format!("{:.2}", sustained.ghz),
                &per_byte.map_or("–".into(), |n| digits(n, 3)),
                &digits(record.per_l2_byte(burst.tflops), 3),
            ]);
        }
        ensure!(table.n_rows != before, "no instruction that was measured begins with `{unit}`");
    }
    sources.extend([source, l2]);
    Ok(format!("{head}{table}"))
}

/// Returns the device and date of the L2 measurement.
fn l2_source(record: &Ceilings) -> String {
    let L2 { device, date, .. } = &record.l2;
    format!("{}, {}", escaped(device), day(date))
}

fn median_ms(record: &Ceilings, rate: fn(&Ceiling) -> &Rate) -> String {
    let launches = record.ceilings.iter().flat_map(|ceiling| &rate(ceiling).samples);
    let mut all: Vec<f64> = launches.map(|sample| sample.ms).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map_or("–".into(), |ms| digits(*ms, 2))
}

/// Returns a quantity of the fastest instruction with random elements, formatted for a sentence.
pub(crate) fn number(record: &Ceilings, [unit, elements, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
    const WHAT: [&str; 7] = ["burst", "sustained", "ghz", "sustained_ghz", "clocks", "per_byte", "per_l2_byte"];
    ensure!(WHAT.contains(&what), "a ceiling has {}, not `{what}`", WHAT.join(", "));
    let found = record.best(unit, elements).with_context(|| format!("no `{unit}` of {elements} was measured"))?;
    let flop = |number: f64| format!("{} FLOP/B", digits(number, 3));
    let text = match what {
        "burst" => format!("{} TFLOP/s", digits(found.burst.tflops, 3)),
        "sustained" => format!("{} TFLOP/s", digits(found.sustained.tflops, 3)),
        "ghz" => format!("{:.2} GHz", found.burst.ghz),
        "sustained_ghz" => format!("{:.2} GHz", found.sustained.ghz),
        "clocks" => digits(found.burst.clocks, 3),
        "per_byte" => flop(record.per_byte(found.burst.tflops).context("no bandwidth was measured")?),
        _ => flop(record.per_l2_byte(found.burst.tflops)),
    };
    if what == "per_l2_byte" {
        sources.insert(l2_source(record));
    }
    let about = format!("{} of {elements}, {what}", found.instruction);
    Ok(quoted_from(run_source(&record.run, Work::Sgemm), &text, &about, sources))
}
