//! What must hold for every kernel, however odd: the rules that random kernels are run against.

use std::fmt;
use std::ops::AddAssign;
use std::panic::{AssertUnwindSafe, catch_unwind};

use findings::Report;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use simt::lanes::CpuLevel;
use simt::launch::{LaunchOptions, Watch};

use crate::gpu::{Gpu, Shape};
use crate::random_kernel::{BLOCK, GRID, OUTPUT_WORDS, input, tame, wild};

/// Thread-instructions after which a kernel counts as endless.
const BUDGET: u64 = 3_000_000;

/// What became of a number of kernels.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    clean: u64,
    with_findings: u64,
    refused: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.clean += other.clean;
        self.with_findings += other.with_findings;
        self.refused += other.refused;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            clean,
            with_findings,
            refused,
        } = self;
        write!(
            f,
            "{clean} kernels ran clean, {with_findings} ended in findings, {refused} were refused when loaded"
        )
    }
}

/// How to run a kernel.
#[derive(Debug, Clone, Copy)]
struct Setting {
    watch: Watch,
    level: Option<CpuLevel>,
    threads: usize,
}

/// A tame kernel, a wild one and a damaged one of this seed, against all rules.
pub fn all(seed: u64) -> Result<Tally, String> {
    let mut tally = Tally {
        clean: 1,
        ..Tally::default()
    };
    caught("tame", || tame_agrees_with_itself(seed))?;
    tally += caught("wild", || ends_the_same_way(&wild(seed), seed))?;
    tally += caught("damaged", || ends_the_same_way(&damaged(seed), seed))?;
    Ok(tally)
}

/// Output of a tame kernel.
pub fn output_of_tame(seed: u64) -> Result<Vec<u32>, String> {
    let setting = Setting {
        watch: Watch::Checked,
        level: None,
        threads: 1,
    };
    run(&tame(seed), seed, setting)
        .map(|(_, output)| output)
        .map_err(|refusal| refusal.to_string())
}

fn caught<T>(kind: &str, rule: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(rule)) {
        Ok(result) => result.map_err(|what| format!("{kind} kernel: {what}")),
        Err(_) => Err(format!("{kind} kernel: panicked")),
    }
}

fn tame_agrees_with_itself(seed: u64) -> Result<(), String> {
    let text = tame(seed);
    let settings = [
        Setting {
            watch: Watch::Plain,
            level: Some(CpuLevel::Baseline),
            threads: 1,
        },
        Setting {
            watch: Watch::Counted,
            level: None,
            threads: 2,
        },
        Setting {
            watch: Watch::CheckedGlobalRaces,
            level: Some(best().min(CpuLevel::Avx2)),
            threads: 2,
        },
    ];
    let mut first: Option<Vec<u32>> = None;
    let mut counts = None;
    for setting in settings {
        let (report, output) = run(&text, seed, setting).map_err(|what| format!("{setting:?}: {what}"))?;
        if let Some(finding) = report.findings.first() {
            return Err(format!("{setting:?}: {}", finding.text));
        }
        if first.get_or_insert_with(|| output.clone()) != &output {
            return Err(format!("{setting:?}: other results than the first setting"));
        }
        if report.counted && *counts.get_or_insert(report.total) != report.total {
            return Err(format!("{setting:?}: other counts than before"));
        }
    }
    Ok(())
}

fn ends_the_same_way(text: &str, seed: u64) -> Result<Tally, String> {
    let mut first: Option<String> = None;
    for threads in [1, 2] {
        let setting = Setting {
            watch: Watch::CheckedGlobalRaces,
            level: None,
            threads,
        };
        match run(text, seed, setting) {
            Err(refusal) if refusal.is_empty() => return Err("refused without a reason".to_owned()),
            Err(_) => {
                return Ok(Tally {
                    refused: 1,
                    ..Tally::default()
                });
            }
            Ok((report, output)) => {
                let told: Vec<&str> = report
                    .findings
                    .iter()
                    .map(|finding| finding.text.as_str())
                    .collect();
                let told = format!("{}\n{output:?}", told.join("\n"));
                if first.get_or_insert_with(|| told.clone()) != &told {
                    return Err(format!(
                        "{threads} threads tell another story:\n{}\n{told}",
                        first.unwrap_or_default()
                    ));
                }
                if threads == 2 {
                    let clean = u64::from(report.findings.is_empty());
                    return Ok(Tally {
                        clean,
                        with_findings: 1 - clean,
                        refused: 0,
                    });
                }
            }
        }
    }
    run(
        text,
        seed,
        Setting {
            watch: Watch::Plain,
            level: None,
            threads: 2,
        },
    )?;
    Ok(Tally::default())
}

fn run(text: &str, seed: u64, setting: Setting) -> Result<(Report, Vec<u32>), String> {
    let gpu = Gpu::with_room(1 << 24);
    // Before loading: a module's variables may leave no room, and that is for loading to say.
    let (source, target) = (gpu.upload(&input(seed)), gpu.upload(&[0u32; OUTPUT_WORDS]));
    let module = gpu
        .load_at(text, setting.level)
        .map_err(|error| error.to_string())?;
    let kernel = module.kernels().first().ok_or("no kernel")?;
    let mut params = [source.to_le_bytes(), target.to_le_bytes()].concat();
    params.resize(kernel.kernel().param_bytes as usize, 0);
    let Setting {
        watch,
        threads,
        level,
    } = setting;
    let options = LaunchOptions {
        watch,
        threads,
        level,
        budget: BUDGET,
        ..LaunchOptions::default()
    };
    let report = gpu
        .launch_raw(kernel, Shape::line(GRID, BLOCK), params, options)
        .map_err(|refusal| refusal.to_string())?;
    Ok((report, gpu.read(target, OUTPUT_WORDS)))
}

/// A wild kernel with a few of its characters, words and lines exchanged, lost or doubled.
fn damaged(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    let mut lines: Vec<String> = wild(seed).lines().map(str::to_owned).collect();
    for _ in 0..rng.random_range(1..6u32) {
        let (i, j) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
        match rng.random_range(0..6u32) {
            0 => lines.swap(i, j),
            1 => lines[i] = lines[j].clone(),
            2 => lines[i].clear(),
            3 => {
                let (mine, other): (Vec<&str>, Vec<&str>) =
                    (lines[i].split(' ').collect(), lines[j].split(' ').collect());
                let mut words = mine.clone();
                let at = rng.random_range(0..words.len());
                words[at] = other[rng.random_range(0..other.len())];
                lines[i] = words.join(" ");
            }
            4 => {
                let cut = rng.random_range(0..=lines[i].len());
                lines[i].truncate(cut);
            }
            _ => {
                let mut bytes = lines[i].clone().into_bytes();
                if let Some(at) = bytes.len().checked_sub(1) {
                    bytes[rng.random_range(0..=at)] = rng.random_range(32..127);
                }
                lines[i] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
    }
    lines.join("\n")
}

/// The best vector instructions that this machine has.
fn best() -> CpuLevel {
    simt::lanes::CpuLevel::Avx2
}
