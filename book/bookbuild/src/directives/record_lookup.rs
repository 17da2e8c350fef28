//! The records of `book/data`, and `{{#n}}`: a recorded number in a sentence.

use anyhow::{Context as _, Error, Result, anyhow, bail};
use catalog::files::files_ending_with;
use catalog::{CatalogKernel, Shape, Work};
use records::ceilings::Ceilings;
use records::duel::{Duel, Speed};
use records::record::Power;
use records::{Outcome, Record, Run, Samples};
use records::{profile::PAIRS, record::VerifiedRun};

use crate::directives::{ceilings, counters::Counters, other_libraries::OtherLibraries, pair::Pair};
use crate::kernel_args::{find_kernel, parse_shape};
use crate::quote::{Sources, digits, ms, quoted, quoted_from, run_source};
use crate::{RepoPaths, directives::process::Process};
use catalog::text::{escaped, grouped, short_device};

/// Main device where `book.toml` names none.
const MAIN_DEVICE: &str = "h200";

pub(crate) struct Records {
    all: Vec<(String, Record)>,
    /// Record of the book's main device, as a file name without `.json`.
    main_device: String,
    others: Result<OtherLibraries>,
    /// Times with copies from and to the host, on one device.
    process: Result<Process>,
    /// Times with copies from and to the host, on two devices.
    pair: Result<Pair>,
    /// Peak rates of tensor cores on each device, with the first part of the file's name.
    ceilings: Result<Vec<(String, Ceilings)>>,
    pub(crate) counters: Counters,
}

impl Records {
    /// Reads every record of the folder, and skips other files.
    pub(crate) fn load(repo: &RepoPaths, main_device: Option<String>) -> Result<Self> {
        let mut all = Vec::new();
        for path in files_ending_with(&repo.data(), ".json").unwrap_or_default() {
            let text = repo.read(&path)?;
            let value: serde_json::Value = serde_json::from_str(&text)
                .map_err(|error| anyhow!("{} is not JSON: {error}", repo.display_path(&path)))?;
            if value["runs"].is_array() && value["measurements"].is_array() {
                let record = Record::load(&path)?;
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                all.push((stem, record));
            }
        }
        let main_device = main_device.unwrap_or_else(|| MAIN_DEVICE.into());
        let stem = &main_device;
        Ok(Self {
            all,
            others: OtherLibraries::load(repo, stem),
            process: repo.read_json(&repo.data().join(format!("{stem}-process.json"))),
            pair: repo.read_json(&repo.data().join(format!("{stem}-two.json"))),
            ceilings: ceilings::load(repo),
            main_device,
            counters: Counters::load(repo)?,
        })
    }

    /// Returns the records of real devices, the book's main device first.
    pub(crate) fn real(&self) -> Vec<&Record> {
        let is_main = |stem: &String| self.main_device == *stem;
        let is_real = |record: &&(String, Record)| record.1.runs.iter().any(|run| !run.emulated);
        let mut real: Vec<_> = self.all.iter().filter(is_real).collect();
        real.sort_by_key(|(stem, _)| !is_main(stem));
        real.iter().map(|(_, record)| record).collect()
    }

    fn main_record(&self) -> Result<&Record> {
        let real = self.real().first().copied();
        real.context("no record of a GPU is in book/data; make one with: cargo xtask bench all --save")
    }

    pub(crate) fn others(&self) -> Result<&OtherLibraries> {
        self.others.as_ref().map_err(copied)
    }

    pub(crate) fn process(&self) -> Result<&Process> {
        self.process.as_ref().map_err(copied)
    }

    pub(crate) fn pair(&self) -> Result<&Pair> {
        self.pair.as_ref().map_err(copied)
    }

    pub(crate) fn main_ceilings(&self) -> Result<&Ceilings> {
        self.ceilings(&self.main_device, |stem, _| *stem == self.main_device)
    }

    fn ceilings(&self, device: &str, is_wanted: impl Fn(&str, &Ceilings) -> bool) -> Result<&Ceilings> {
        let all = self.ceilings.as_ref().map_err(copied)?;
        let found = all.iter().find(|(stem, record)| is_wanted(stem, record));
        found.map(|(_, record)| record).with_context(|| {
            format!(
                "no ceilings of {device} are on record; `cargo run --release -p v12 --example ceilings` measures them"
            )
        })
    }

    pub(crate) fn number(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        match args {
            ["device", what] => self.device_number(what, sources),
            &["other", by, size, what] => self.others()?.number([by, size, what], sources),
            &["process", size, way, what] => self.process()?.number([size, way, what], sources),
            &["two", size, way, what] => self.pair()?.number([size, way, what], sources),
            &["ceiling", unit, elements, what] => {
                ceilings::number(self.main_ceilings()?, [unit, elements, what], sources)
            }
            ["emulated", kernel, counter] => self.counter_number(kernel, None, counter, sources),
            ["emulated", kernel, size, counter] => self.counter_number(kernel, Some(size), counter, sources),
            &["on", device, "ceiling", unit, elements, what] => {
                self.record_of_gpu(device)?;
                let found = self.ceilings(device, |_, record| short_device(&record.run.device) == device)?;
                ceilings::number(found, [unit, elements, what], sources)
            }
            ["on", device, kernel, rest @ ..] => measured(self.record_of_gpu(device)?, kernel, rest, sources),
            [kernel, rest @ ..] if rest.len() > 1 => measured(self.main_record()?, kernel, rest, sources),
            _ => Err(Error::msg(
                "`{{#n}}` wants [on GPU] KERNEL SIZE WHAT, [on GPU] KERNEL SIZE times OTHER, device WHAT, other BY SIZE WHAT, process SIZE WAY WHAT, two SIZE WAY WHAT, ceiling UNIT ELEMENTS WHAT, emulated KERNEL [SIZE] COUNTER, \
                 output NAME KERNEL COLUMN, ptxas KERNEL sm_90 WHAT, predicted KERNEL SIZE WHAT, or chip CONSTANT",
            )),
        }
    }

    /// Finds the record of a GPU by its short name, such as `H100`.
    fn record_of_gpu(&self, device: &str) -> Result<&Record> {
        let real = self.real();
        let found = real.iter().find(|record| name_of(record) == device);
        found.copied().with_context(|| {
            let names: Vec<&str> = real.iter().map(|record| name_of(record)).collect();
            format!("no record is of a GPU named {device}, but of {}", names.join(", "))
        })
    }

    fn device_number(&self, what: &str, sources: &mut Sources) -> Result<String> {
        let record = self.main_record()?;
        let run = record
            .runs
            .iter()
            .rfind(|run| !run.emulated && run.roofline.is_some())
            .context("no run in the record has the ceilings of its device")?;
        let roofline = run.roofline.context("no ceilings")?;
        let text = match what {
            "fp32_tflops" => format!("{} TFLOP/s", digits(roofline.fp32_tflops, 3)),
            "copy_gbs" => format!("{:.0} GB/s", roofline.copy_gbs),
            "ridge" => format!("{} FLOP/B", digits(roofline.fp32_tflops * 1e3 / roofline.copy_gbs, 2)),
            "name" => escaped(&run.device),
            "cublas" => run.cublas.clone().context("no version of cuBLAS in the run")?,
            _ => bail!("a device has fp32_tflops, copy_gbs, ridge, name and cublas, not `{what}`"),
        };
        Ok(quoted_from(run_source(run, Work::Sgemm), &text, "measured", sources))
    }

    /// Returns a counter of the emulated GPU, or the ratio `a/b` of two, such as sectors per multiply-add.
    fn counter_number(&self, kernel: &str, size: Option<&str>, counter: &str, sources: &mut Sources) -> Result<String> {
        let counted = self.counters.counted(kernel, size)?;
        let get = |name: &str| {
            counted.emulated.get(name).with_context(|| {
                let names: Vec<&str> = PAIRS.iter().map(|pair| pair.name).collect();
                format!("there is no counter `{name}`; there are {}", names.join(", "))
            })
        };
        let text = match counter.split_once('/') {
            Some((above, below)) => match (get(above)?, get(below)?) {
                (_, 0) => return Err(anyhow!("{below} of {kernel} at {} is 0", counted.shape)),
                (above, below) => digits(above as f64 / below as f64, 3),
            },
            None => grouped(get(counter)?, "&nbsp;"),
        };
        sources.extend(self.counters.source(counted));
        Ok(quoted(&text, &format!("{counter} of {kernel} at {}, counted by the emulated GPU", counted.shape)))
    }
}

/// Returns a recorded quantity of a kernel at a size, or the ratio of two kernels' times.
fn measured(record: &Record, kernel: &str, words: &[&str], sources: &mut Sources) -> Result<String> {
    let (_, about) = find_kernel(kernel)?;
    match words {
        [size, "times", other] => {
            let (run, fast, _) = passed(record, kernel, size)?;
            let (_, slow, _) = passed(record, other, size)?;
            let ratio = median(&slow.hot, "hot")? / median(&fast.hot, "hot")?;
            let words = format!("{other} takes so many times as long as {kernel} at {size}");
            Ok(quoted_from(run_source(run, about.work), &format!("{}×", digits(ratio, 2)), &words, sources))
        }
        [size, what] => {
            let (run, found, words) = passed(record, kernel, size)?;
            let text = value(about, parse_shape(kernel, size)?, run, found, what)?;
            sources.insert(run_source(run, about.work));
            Ok(quoted(&text, &words))
        }
        _ => Err(anyhow!("a kernel takes SIZE WHAT or SIZE times OTHER")),
    }
}

fn passed<'r>(record: &'r Record, kernel: &str, size: &str) -> Result<(&'r Run, &'r VerifiedRun, String)> {
    let (step, known) = find_kernel(kernel)?;
    let shape = parse_shape(kernel, size)?;
    let again = format!("measure it with: cargo xtask bench {} --save", step.id);
    let found = record
        .measurement(kernel, shape)
        .with_context(|| format!("{kernel} at {shape} was not recorded on {}; {again}", name_of(record)))?;
    let run =
        record.run_of(found).with_context(|| format!("the record of {kernel} at {shape} names no run; {again}"))?;
    match &found.outcome {
        Outcome::Passed(passed) => Ok((run, passed, format!("{kernel} at {shape}, {}", run_source(run, known.work)))),
        Outcome::Failed { why, .. } => Err(anyhow!("{kernel} at {shape} failed ({why}): it has no speed")),
        Outcome::NotRun { why } => Err(anyhow!("{kernel} at {shape} was not run ({why}): it has no speed")),
    }
}

/// Copies the error of a file that several directives read.
fn copied(error: &Error) -> Error {
    anyhow!("{error:#}")
}

/// Returns the short name of a record's GPU, such as `H100`.
pub(crate) fn name_of(record: &Record) -> &str {
    short_device(record.runs.first().map_or("", |run| run.device.as_str()))
}

fn median(samples: &Option<Samples>, which: &str) -> Result<f64> {
    samples
        .as_ref()
        .map(Samples::median)
        .filter(|median| *median > 0.0)
        .with_context(|| format!("no {which} times were recorded"))
}

fn power(passed: &VerifiedRun) -> Result<&Power> {
    passed.power.as_ref().context("no power was recorded")
}

/// Formats the least and the most: `1290 to 1515 MHz`.
fn range([least, most]: [u32; 2], unit: &str) -> String {
    if least == most { format!("{most} {unit}") } else { format!("{least} to {most} {unit}") }
}

/// Returns the mean time of a launch in a duel.
fn duel_ms(passed: &VerifiedRun, kind: fn(&Duel) -> Option<Speed>) -> Result<f64> {
    let speed = passed.duel().and_then(kind);
    Ok(speed.context("no such duel was measured; do it with: cargo xtask bench --duel --save")?.kernel_ms)
}

pub(crate) fn value(
    kernel: &CatalogKernel, shape: Shape, run: &Run, passed: &VerifiedRun, what: &str,
) -> Result<String> {
    let hot = || median(&passed.hot, "hot");
    let tflops = |ms: f64| kernel.work.flops(shape) / ms / 1e9;
    let gbs = |ms: f64| kernel.work.bytes(shape) / ms / 1e6;
    let part_of = |name: &str| {
        let is_beside = passed.yardstick.as_ref().is_some_and(|yardstick| yardstick.name == name);
        let part = passed.of_yardstick().filter(|_| is_beside);
        anyhow::Ok(part.with_context(|| format!("{name} was not timed beside it"))? * 100.0)
    };
    let roofline = || run.roofline.context("the run has no ceilings of its device");
    Ok(match what {
        "ms" => ms(hot()?),
        "cold_ms" => ms(median(&passed.cold, "cold")?),
        "whole_ms" => ms(median(&passed.whole, "whole")?),
        "of_whole" => format!("{} %", percent(hot()? / median(&passed.whole, "whole")? * 100.0)),
        "tflops" => format!("{} TFLOP/s", digits(tflops(hot()?), 3)),
        "gflops" => format!("{} GFLOP/s", digits(tflops(hot()?) * 1e3, 3)),
        "gbs" => format!("{} GB/s", digits(gbs(hot()?), 3)),
        "of_cublas" => format!("{} %", percent(part_of("cuBLAS")?)),
        "of_copy" => format!("{} %", percent(part_of("copy")?)),
        "of_peak" => format!("{} %", percent(tflops(hot()?) / roofline()?.fp32_tflops * 100.0)),
        "watts" => range(power(passed)?.watts, "W"),
        "mhz" => range(passed.clock_mhz.context("no clock was recorded")?, "MHz"),
        "error" => format!("{:.1e}", passed.accuracy.max_abs_error),
        "sustained_tflops" => format!("{} TFLOP/s", digits(tflops(duel_ms(passed, |duel| duel.sustained)?), 3)),
        "burst_tflops" => format!("{} TFLOP/s", digits(tflops(duel_ms(passed, |duel| Some(duel.burst))?), 3)),
        "joules" | "joules_of_yardstick" => {
            let both = passed.duel().and_then(|duel| duel.joules);
            let both = both.context("no energy was measured; do it with: cargo xtask bench --duel --save")?;
            format!("{} J", digits(both[usize::from(what != "joules")], 2))
        }
        "spread" => {
            let samples = passed.hot.as_ref().context("no hot times were recorded")?;
            format!("{:.1} %", samples.spread() * 100.0)
        }
        _ => {
            bail!(
                "`{what}` is nothing that a record has; it has ms, cold_ms, whole_ms, of_whole, tflops, gflops, gbs, \
                 of_cublas, of_copy, of_peak, sustained_tflops, burst_tflops, joules, joules_of_yardstick, \
                 watts, mhz, error, spread"
            );
        }
    })
}

fn percent(number: f64) -> String {
    digits(number, if number < 10.0 { 2 } else { 3 })
}
