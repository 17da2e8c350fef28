//! Measured peak rates of tensor cores: `{{#ceilings UNIT…}}`, and `{{#n ceiling UNIT ELEMENTS WHAT}}` in a sentence.
//! `steps/v12/examples/ceilings.rs` measures them.

use std::fmt::Write as _;

use anyhow::{Context as _, Error, Result, bail};
use catalog::Work;
use catalog::files::files_ending_with;
use catalog::text::{day, escaped};
use records::ceilings::{Ceiling, Ceilings, L2, Rate};

use crate::RepoPaths;
use crate::quote::{Sources, digits, quoted, run_source};

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
    let mut out = format!(
        "Instructions alone, {source}; L2, {l2}. Burst: {} ms, the median of some with pauses; sustained: {} ms. Clocks: for an \
         instruction of a quarter of a multiprocessor; a `wgmma` occupies all four. The last two columns are operations \
         for each byte that a kernel needs to keep up with the burst.\n\n\
         | instruction | elements | warps | burst, TFLOP/s | GHz | clocks | sustained, TFLOP/s | GHz | FLOP per byte of device memory | of L2 |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        median_ms(record, |ceiling| &ceiling.burst),
        median_ms(record, |ceiling| &ceiling.sustained),
    );
    for unit in units {
        let rows = record.ceilings.iter().filter(|ceiling| ceiling.instruction.starts_with(unit));
        let before = out.len();
        for ceiling in rows {
            let (burst, sustained) = (&ceiling.burst, &ceiling.sustained);
            let zeros = if ceiling.zeros { ", all zero" } else { "" };
            let per_byte = record.per_byte(burst.tflops);
            let _ = writeln!(
                out,
                "| `{}` | {}{zeros} | {} | {} | {:.2} | {} | {} | {:.2} | {} | {} |",
                ceiling.instruction,
                ceiling.numbers.to_uppercase().replace("BF16", "bf16"),
                ceiling.warps,
                digits(burst.tflops, 3),
                burst.ghz,
                digits(burst.clocks, 3),
                digits(sustained.tflops, 3),
                sustained.ghz,
                per_byte.map_or("–".into(), |n| digits(n, 3)),
                digits(record.per_l2_byte(burst.tflops), 3),
            );
        }
        if out.len() == before {
            bail!("no instruction that was measured begins with `{unit}`");
        }
    }
    sources.extend([source, l2]);
    Ok(out)
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
    if !WHAT.contains(&what) {
        bail!("a ceiling has {}, not `{what}`", WHAT.join(", "));
    }
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
    let source = run_source(&record.run, Work::Sgemm);
    let about = format!("{} of {elements}, {what}, {source}", found.instruction);
    sources.insert(source);
    Ok(quoted(&text, &about))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a record with FP32 at 50 TFLOP/s, mma.sync at 600, wgmma at 800 and with zeros at 900, memory at 4000
    /// GB/s, L2 at 8000.
    fn record() -> Ceilings {
        let line = |instruction: &str, numbers: &str, zeros: bool, tflops: f64| {
            format!(
                r#"{{"instruction": "{instruction}", "numbers": "{numbers}", "zeros": {zeros}, "warps": 8,
                "burst": {{"tflops": {tflops}, "ghz": 1.75, "clocks": 6.01, "samples": [{{"ms": 20.1, "ghz": 1.75}}]}},
                "sustained": {{"tflops": 500, "ghz": 1.5, "clocks": 6.01, "samples": [{{"ms": 1500, "ghz": 1.5}}]}}}}"#
            )
        };
        let lines = [
            line("fma.f32", "fp32", false, 50.0),
            line("mma.sync.m16n8k16", "bf16", false, 600.0),
            line("wgmma.m64n256k16", "bf16", false, 800.0),
            line("wgmma.m64n256k16", "bf16", true, 900.0),
        ];
        let text = format!(
            r#"{{"run": {{"id": "1", "date": "2000-01-01T00:00:00Z", "device": "a device", "emulated": false,
            "capability": "9.0", "driver": "13.0", "host": "", "revision": "",
            "roofline": {{"fp32_tflops": 60, "copy_gbs": 4000}}, "cublas": null}},
            "n_sms": 100, "l2": {{"device": "NVIDIA H001", "date": "2000-01-03T00:00:00Z", "own_gbs": 8000, "same_gbs": 20000}},
             "ceilings": [{}]}}"#,
            lines.join(",")
        );
        Ceilings::parse(&text).expect("what the program writes")
    }

    #[test]
    fn a_table_has_what_was_asked_for() {
        let mut sources = Sources::new();
        let table = table(&record(), &["fma", "wgmma"], &mut sources).expect("it was measured");
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `fma.f32` | FP32 | 8 | 50.0 | 1.75 | 6.01 | 500 | 1.50 | 12.5 | 6.25 |",
                "| `wgmma.m64n256k16` | bf16 | 8 | 800 | 1.75 | 6.01 | 500 | 1.50 | 200 | 100 |",
                "| `wgmma.m64n256k16` | bf16, all zero | 8 | 900 | 1.75 | 6.01 | 500 | 1.50 | 225 | 112 |",
            ]
        );
        assert_eq!(sources.len(), 2);
    }

    #[test]
    fn a_number_is_of_random_elements() {
        let of = |unit, what| {
            let quoted = number(&record(), [unit, "bf16", what], &mut Sources::new());
            quoted.map(|html| {
                let text = html.split_once('>').map_or("", |(_, rest)| rest);
                text.trim_end_matches("</span>").replace("&nbsp;", " ")
            })
        };
        assert_eq!(of("wgmma", "burst").expect("a number"), "800 TFLOP/s");
        assert_eq!(of("mma.sync", "per_byte").expect("a number"), "150 FLOP/B");
        assert_eq!(of("mma.sync", "per_l2_byte").expect("a number"), "75.0 FLOP/B");
        assert_eq!(of("mma.sync", "clocks").expect("a number"), "6.01");
        assert!(of("mma.sync", "speed").is_err_and(|why| why.to_string().contains("has burst")));
        assert!(of("dmma", "burst").is_err_and(|why| why.to_string().contains("no `dmma`")));
    }
}
