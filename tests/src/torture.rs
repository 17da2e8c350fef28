//! What must hold for every kernel, however odd: the rules that random kernels are run against.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arithmetic::lanes::CpuLevel;
use diagnostics::Report;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use simt::{check::Code, launch::CheckLevel, module::Module};

use crate::gpu::{Geometry, Gpu, options, texts};
use crate::random_atomics::{self, Mix};
use crate::random_kernel::{BLOCK, GRID, INPUT_WORDS, input, output_words, tame, unwritten, wild};

/// Thread-instructions after which a kernel counts as endless.
const BUDGET: u64 = 3_000_000;

/// Blocks of a launch, enough that the emulated GPU spreads it over several threads.
const PARALLEL_BLOCKS: u32 = 40;
/// Numbers of threads that must not make a difference.
const THREADS: [usize; 4] = [1, 2, 4, 8];

#[derive(Debug, Clone, Copy)]
struct Setting {
    check_level: CheckLevel,
    level: Option<CpuLevel>,
    threads: usize,
    grid: u32,
    /// Words of the input that are written, and of the output.
    written: [usize; 2],
}

/// The whole input, and more output than any grid has.
const ALL: [usize; 2] = [INPUT_WORDS, usize::MAX];

/// Runs a tame kernel, a wild one, a damaged one and others of this seed, against all rules. Returns how they ended.
pub fn all(seed: u64) -> Result<Vec<&'static str>, String> {
    let without = |written| ends_the_same_way(&unwritten(seed), seed, written);
    Ok(vec![
        caught("tame", || tame_agrees_with_itself(seed))?,
        caught("wild", || ends_the_same_way(&wild(seed), seed, ALL))?,
        caught("damaged", || ends_the_same_way(&damaged(seed), seed, ALL))?,
        caught("unwritten", || without([INPUT_WORDS / 2, 0]))?,
        caught("unwritten", || without([0, 100]))?,
        caught("meeting", || meets_the_same_way(seed, Mix::Defined))?,
        caught("racing", || meets_the_same_way(seed, Mix::Racing))?,
    ])
}

pub fn output_of_tame(seed: u64) -> Result<Vec<u32>, String> {
    let setting = Setting { check_level: CheckLevel::Checked, level: None, threads: 1, grid: GRID, written: ALL };
    run(&tame(seed), seed, setting).map(|(_, output)| output).map_err(|refusal| refusal.to_string())
}

fn caught<T>(kind: &str, rule: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(rule)) {
        Ok(result) => result.map_err(|what| format!("{kind} kernel: {what}")),
        Err(_) => Err(format!("{kind} kernel: panicked")),
    }
}

fn tame_agrees_with_itself(seed: u64) -> Result<&'static str, String> {
    let text = tame(seed);
    let setting = |check_level, level, threads, grid| Setting { check_level, level, threads, grid, written: ALL };
    let mut first: Option<Vec<u32>> = None;
    let mut counts = None;
    for setting in [
        setting(CheckLevel::Off, Some(CpuLevel::Baseline), 1, GRID),
        setting(CheckLevel::Count, None, 1, PARALLEL_BLOCKS),
        setting(CheckLevel::Off, None, 2, PARALLEL_BLOCKS),
        setting(CheckLevel::Count, None, 4, PARALLEL_BLOCKS),
        setting(CheckLevel::CheckedWithGlobalRaces, Some(CpuLevel::Avx2), 8, PARALLEL_BLOCKS),
    ] {
        let (report, output) = run(&text, seed, setting).map_err(|what| format!("{setting:?}: {what}"))?;
        if let Some(finding) = report.findings.first() {
            return Err(format!("{setting:?}: {}", finding.text));
        }
        // What more blocks do comes behind what fewer do.
        let first = first.get_or_insert_with(|| output.clone());
        let n = first.len().min(output.len());
        if first[..n] != output[..n] {
            return Err(format!("{setting:?}: other results than the first setting"));
        }
        if output.len() > n {
            *first = output;
            counts = None;
        }
        if report.counted && *counts.get_or_insert(report.total) != report.total {
            return Err(format!("{setting:?}: other counts than before"));
        }
    }
    Ok("clean")
}

struct Ended {
    report: Report,
    codes: Vec<Code>,
    memory: Vec<u8>,
}

impl Ended {
    fn how(&self) -> &'static str {
        if self.report.findings.is_empty() { "clean" } else { "findings" }
    }

    /// Returns whether blocks race: what comes of it is not defined, and may depend on the number of threads.
    fn races(&self) -> bool {
        let races = [Code::Race, Code::RaceEqual];
        self.codes.iter().any(|code| races.contains(code))
    }

    /// Returns the first difference in what is promised: messages and counts, and memory of a launch that ran to its
    /// end.
    fn difference(&self, other: &Ended) -> Option<String> {
        let all = |report: &Report| {
            let outputs = report.undefined_outputs.iter().map(|output| output.finding.text.clone()).collect::<String>();
            texts(&report.findings) + &outputs
        };
        let (mine, theirs) = (all(&self.report), all(&other.report));
        if mine != theirs {
            return Some(format!("other messages:\n{mine}\n--\n{theirs}"));
        }
        if (self.report.counted, self.report.total) != (other.report.counted, other.report.total) {
            return Some(format!("other counts:\n{:?}\n{:?}", self.report.total, other.report.total));
        }
        let at = self.memory.iter().zip(&other.memory).position(|(a, b)| a != b)?;
        let (a, b) = (self.memory[at], other.memory[at]);
        // Only a launch that ran to its end is counted.
        self.report.counted.then(|| format!("byte {at} of the memory is {a:#x} and {b:#x}"))
    }
}

fn ends_the_same_way(text: &str, seed: u64, written: [usize; 2]) -> Result<&'static str, String> {
    let mut first: Option<Ended> = None;
    let setting = |check_level, threads| Setting { check_level, level: None, threads, grid: PARALLEL_BLOCKS, written };
    for threads in THREADS {
        let setting = setting(CheckLevel::CheckedWithGlobalRaces, threads);
        let ended = match run_with_codes(text, seed, setting) {
            Err(refusal) if refusal.is_empty() => return Err("refused without a reason".to_owned()),
            Err(_) => return Ok("refused"),
            Ok(ended) => ended,
        };
        let races = ended.races();
        let difference = first.as_ref().and_then(|first| first.difference(&ended));
        first.get_or_insert(ended);
        if races && threads == 1 {
            break;
        }
        if let Some(what) = difference {
            return Err(format!("{threads} threads: {what}"));
        }
    }
    run(text, seed, setting(CheckLevel::Off, 2))?;
    Ok(first.map_or("findings", |first| first.how()))
}

/// Returns the blocks that meet on a few words: the same on any number of threads, unless a race is found.
fn meets_the_same_way(seed: u64, mix: Mix) -> Result<&'static str, String> {
    let text = random_atomics::kernel(seed, mix);
    let ended = |check_level, threads| -> Result<Ended, String> {
        let gpu = Gpu::with_memory(1 << 20);
        let (start, places) = random_atomics::buffers(seed);
        let threads_in_all = (random_atomics::GRID * random_atomics::BLOCK) as usize;
        let shared = gpu.upload(&start);
        let elsewhere = gpu.upload(&start);
        let own = gpu.upload(&vec![0u64; threads_in_all]);
        let module = gpu.load(&text).map_err(|error| error.to_string())?;
        let mut pointers = places.map(|word| shared + 8 * word as u64);
        if seed % 2 == 1 {
            pointers[1] = elsewhere;
        }
        let mut params: Vec<u8> = pointers.into_iter().chain([own]).flat_map(u64::to_le_bytes).collect();
        params.extend(9u32.to_le_bytes());
        let kernel = module.kernels().first().ok_or("no kernel")?;
        let shape = Geometry::line(random_atomics::GRID, random_atomics::BLOCK);
        let (report, codes) = gpu.launch_raw(kernel, shape, params, options(check_level, BUDGET, threads))?;
        let words =
            [gpu.read::<u64>(shared, start.len()), gpu.read(elsewhere, start.len()), gpu.read(own, threads_in_all)];
        let memory = words.concat().iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Ended { report, codes, memory })
    };
    let checked = ended(CheckLevel::CheckedWithGlobalRaces, 1)?;
    if checked.races() {
        return match mix {
            Mix::Racing => Ok(checked.how()),
            Mix::Defined => Err(format!("a race where there is none:\n{}\n{text}", checked.report.findings[0].text)),
        };
    }
    for check_level in [CheckLevel::Count, CheckLevel::CheckedWithGlobalRaces] {
        let alone = ended(check_level, 1)?;
        for threads in &THREADS[1..] {
            if let Some(what) = alone.difference(&ended(check_level, *threads)?) {
                return Err(format!("{threads} threads, {check_level:?}: {what}\n{text}"));
            }
        }
    }
    Ok(checked.how())
}

fn run(text: &str, seed: u64, setting: Setting) -> Result<(Report, Vec<u32>), String> {
    let ended = run_with_codes(text, seed, setting)?;
    let words = ended.memory.as_chunks::<4>().0.iter();
    let output = words.take(output_words(setting.grid)).map(|bytes| u32::from_le_bytes(*bytes));
    Ok((ended.report, output.collect()))
}

fn run_with_codes(text: &str, seed: u64, setting: Setting) -> Result<Ended, String> {
    let gpu = Gpu::with_memory(1 << 24);
    // Before loading: a module's variables may leave no room, and that is for loading to say.
    let part = |words: Vec<u32>, written: usize| {
        let address = gpu.alloc::<u32>(words.len());
        gpu.write(address, &words[..written.min(words.len())]);
        address
    };
    let [of_input, of_output] = setting.written;
    let (source, target) = (part(input(seed), of_input), part(vec![0; output_words(setting.grid)], of_output));
    let module = Module::load(&gpu.memory, text, setting.level).map_err(|error| error.to_string())?;
    let kernel = module.kernels().first().ok_or("no kernel")?;
    let mut params = [source.to_le_bytes(), target.to_le_bytes()].concat();
    params.resize(kernel.kernel().param_bytes as usize, 0);
    let Setting { check_level, threads, grid, .. } = setting;
    // Summed over the blocks.
    let budget = BUDGET * u64::from(grid.div_ceil(GRID));
    let options = options(check_level, budget, threads);
    let (report, codes) = gpu.launch_raw(kernel, Geometry::line(grid, BLOCK), params, options)?;
    // The output, and behind it what became of the input.
    let mut memory: Vec<u8> = gpu.read(target, 4 * output_words(grid));
    memory.extend(gpu.read::<u8>(source, 4 * INPUT_WORDS));
    Ok(Ended { report, codes, memory })
}

/// Returns a wild kernel with a few of its characters, words and lines exchanged, lost or doubled.
pub fn damaged(seed: u64) -> String {
    damage(&wild(seed), &mut ChaCha8Rng::seed_from_u64(!seed))
}

/// Returns the text with a few of its characters, words and lines exchanged, lost or doubled.
pub(crate) fn damage(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
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
                let cut = (0..=cut).rev().find(|at| lines[i].is_char_boundary(*at));
                lines[i].truncate(cut.unwrap_or(0));
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
