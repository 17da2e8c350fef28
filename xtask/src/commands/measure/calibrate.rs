//! `cargo xtask calibrate`: measures what instructions cost on this machine's GPU, and writes the constants from which
//! times are predicted.
//!
//! The program `calibrate` measures; the table here maps measurements to constants. Constants that no measurement gives
//! stay as they are, and are listed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use catalog::files::write_whole;
use catalog::{process, time};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use xtask_support::CommandOutcome;
use xtask_support::{interrupt, output, paths, programs};

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask calibrate\n          cargo xtask calibrate --from measured.json\n\n\
    On a machine with a GPU but without Rust, run a copy of target/debug/calibrate, and give what it prints to --from here.")]
pub(crate) struct Args {
    /// Read the output of the program `calibrate` on another machine
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Print the constants without changing a file
    #[arg(long)]
    dry_run: bool,
}

pub(super) const FOLDER: &str = "emulator/timing/data";
/// The file that a GPU without one begins with.
const FIRST: &str = "h200.json";
/// Limits of the program `calibrate`, which starts a process anew after each kernel that goes wrong.
const TIME_LIMIT: Duration = Duration::from_secs(600);
const MAX_OUTPUT_BYTES: usize = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::checkout().context("the constants are in the checkout; run this inside it")?;
    let text = match &args.from {
        Some(path) => catalog::files::read_text(path).with_context(|| paths::display_path(path))?,
        None => measure()?,
    };
    let measured = Measurements::read(&text)?;
    let name = file_name(&measured.device);
    let path = root.join(FOLDER).join(&name);
    let (old, is_new) = match std::fs::read_to_string(&path) {
        Ok(old) => (old, false),
        Err(_) => (std::fs::read_to_string(root.join(FOLDER).join(FIRST)).context(FIRST)?, true),
    };
    let updated = update(&old, &measured, is_new)?;
    for change in &updated.changes {
        output::note(change);
    }
    if !updated.left.is_empty() {
        output::note(&format!(
            "no measurement gives these, which stay as they are{}: {}",
            if is_new { ", taken over from another GPU" } else { "" },
            updated.left.join(", ")
        ));
    }
    if args.dry_run {
        return Ok(CommandOutcome::Passed);
    }
    write_whole(&path, &updated.text)?;
    output::note(&format!("wrote {}", paths::display_path(&path)));
    Ok(CommandOutcome::Passed)
}

fn measure() -> Result<String> {
    let mut command = Command::new(programs::find_program("calibrate")?);
    output::command(&programs::command_line(&command, &[]));
    command.stdin(Stdio::null());
    let ended =
        process::run(command, TIME_LIMIT, MAX_OUTPUT_BYTES, &interrupt::happened).context("starting calibrate")?;
    interrupt::check("nothing was written")?;
    let errors = ended.errors.trim();
    ensure!(ended.status.success(), "{}", errors.trim_start_matches("error: "));
    if !errors.is_empty() {
        output::note(errors);
    }
    String::from_utf8(ended.output).context("calibrate printed something that is not text")
}

/// Returns the file name of a device: `h200.json` for `NVIDIA H200`.
pub(super) fn file_name(device: &str) -> String {
    let words = device.trim_start_matches("NVIDIA ").to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("{}.json", words.chars().map(plain).collect::<String>())
}

struct Measurements {
    device: String,
    /// Title of the measurement, for the file.
    from: String,
    values: BTreeMap<String, f64>,
}

impl Measurements {
    fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let json = |line: &str| -> Result<Value> {
            serde_json::from_str(line).with_context(|| format!("not a line that calibrate prints: {line}"))
        };
        let header = json(lines.next().context("calibrate printed nothing")?)?;
        let word = |name: &str| header[name].as_str().map(str::to_owned);
        let (Some(device), Some(driver), Some(date)) = (word("device"), word("driver"), header["date"].as_u64()) else {
            bail!("the first line does not name device, driver and date");
        };
        let mut values = BTreeMap::new();
        for line in lines {
            let line = json(line)?;
            if let (Some(name), Some(value)) = (line["name"].as_str(), line["value"].as_f64()) {
                values.insert(name.to_owned(), value);
            }
        }
        let date = time::utc(date);
        let day = catalog::text::day(&date);
        Ok(Self { from: format!("cargo xtask calibrate, {device}, CUDA {driver}, {day}"), device, values })
    }

    /// Returns a measurement, which has to be above zero. It may be [`Missing`].
    fn get(&self, name: &str) -> Result<f64> {
        match self.values.get(name) {
            Some(value) if *value > 0.0 => Ok(*value),
            Some(value) => bail!("measured {name} = {value}, which is out of range"),
            None => Err(Missing.into()),
        }
    }
}

/// A measurement that was not made: this GPU has no such instructions, or the program was an earlier one.
#[derive(Debug, thiserror::Error)]
#[error("not measured")]
struct Missing;

enum Rule {
    /// Clocks: whole ones, because the hardware has no others; the loop itself adds some hundredths.
    Clocks(&'static str),
    /// A number, as it was measured.
    AsMeasured(&'static str),
    /// A number that this function computes from measurements.
    Of(fn(&Measurements) -> Result<f64>),
    /// A number for each of three widths that this function computes from measurements.
    OfWidths(fn(&Measurements, &str, f64) -> Result<f64>),
}

/// Lanes that are 16 bytes apart: wavefronts of a load of 4, 8 and 16 bytes.
const WAVEFRONTS_OF_LINKS: f64 = 4.0;
/// Bytes of a lane with their wavefronts in the loops of shared memory, where lanes lie side by side.
const WIDTHS: [(&str, f64); 3] = [("4", 1.0), ("8", 2.0), ("16", 4.0)];
const SCHEDULERS: f64 = 4.0;

/// Clocks of the other instructions of loops: around a wait for a phase that has ended, of a turn between two warps,
/// around a group of products, of a barrier of the cluster with its warp, around a fence, of an exchange between two
/// blocks, and around a box that is stored.
const PHASE_LOOP: f64 = 7.5;
const TURN: f64 = 15.5;
const GROUP_LOOP: f64 = 16.0;
const CLUSTER_LOOP: f64 = 3.4;
const FENCE_LOOP: f64 = 17.0;
const EXCHANGE_LOOP: f64 = 35.0;
const BOX_OUT_LOOP: f64 = 5.0;
/// Nanoseconds from the start of a kernel to its only store.
const TO_STORE_NS: f64 = 32.0;
/// Wavefronts of a store of 16 bytes by each lane, and such stores of a warp in an exchange.
const STORED: [f64; 2] = [4.0, 8.0];
/// Rows of 128 bytes of a large box and of a small one; lines in which such rows lie that begin on 16 bytes, on
/// average.
const BOX_ROWS: [f64; 2] = [256.0, 8.0];
const ROW_BYTES: f64 = 128.0;
const PIECES: f64 = 15.0 / 8.0;

/// The constants and their rules, in the order of the file.
const RULES: [(&str, Rule); 50] = [
    ("sms", Rule::AsMeasured("n_sms")),
    ("ghz", Rule::AsMeasured("clock")),
    ("fma", Rule::Clocks("cost_fma")),
    ("integer_fma", Rule::Clocks("cost_integer_fma")),
    ("alu", Rule::Clocks("cost_alu")),
    ("double", Rule::Clocks("cost_double")),
    ("special", Rule::Clocks("cost_special")),
    ("load_constant", Rule::Of(|m| Ok((m.get("cost_load_constant")? / SCHEDULERS).round()))),
    ("constant_latency", Rule::Clocks("chase_constant")),
    ("load_shared_issue", Rule::Clocks("cost_load_shared_4_alone")),
    (
        "store_shared_issue",
        Rule::OfWidths(|m, bytes, _| Ok(m.get(&format!("cost_store_shared_{bytes}_alone"))?.round())),
    ),
    (
        "shared_latency",
        Rule::OfWidths(|m, bytes, wavefronts| Ok((m.get(&format!("chase_shared_{bytes}"))? - wavefronts).round())),
    ),
    ("barrier", Rule::Of(|m| Ok(barrier(m)?.0))),
    ("barrier_per_warp", Rule::Of(|m| Ok(barrier(m)?.1))),
    ("load_global_issue", Rule::AsMeasured("cost_load_l1_4_alone")),
    (
        "l1_latency",
        Rule::OfWidths(|m, bytes, _| Ok((m.get(&format!("chase_l1_{bytes}"))? - WAVEFRONTS_OF_LINKS).round())),
    ),
    (
        "l2_latency",
        // One lane loads 8 bytes: one wavefront of two parts.
        Rule::Of(|m| Ok((m.get("chase_l2")? - (m.get("chase_l1_8")? - WAVEFRONTS_OF_LINKS + 1.0)).round())),
    ),
    ("phase_issue", Rule::Clocks("barrier_arrive_1_threads")),
    ("phase_check", Rule::Of(|m| Ok((m.get("barrier_passed_32_threads")? - PHASE_LOOP).round()))),
    ("phase_latency", Rule::Of(|m| Ok((m.get("barrier_turns_64_threads")? - TURN).round()))),
    (
        "remote_latency",
        Rule::Of(|m| Ok((m.get("barrier_turns_in_cluster_32_threads")? - m.get("barrier_turns_64_threads")?).round())),
    ),
    ("cluster_barrier", Rule::Of(|m| Ok((m.get("barrier_cluster_relaxed_2_32_threads")? - CLUSTER_LOOP).round()))),
    ("fence", Rule::Of(|m| Ok((m.get("fence_alone_32_threads")? - FENCE_LOOP).round()))),
    (
        "store_latency",
        Rule::Of(|m| Ok((m.get("fence_after_store_32_threads")? - m.get("fence_alone_32_threads")?).round())),
    ),
    (
        "remote_store_latency",
        Rule::Of(|m| {
            let passes = STORED[1] * STORED[0] * remote_wavefront(m)?;
            let barrier = m.get("barrier_cluster_2_32_threads")?;
            Ok((m.get("remote_exchange_32_threads")? - passes - barrier - EXCHANGE_LOOP).round())
        }),
    ),
    ("remote_wavefront", Rule::Of(remote_wavefront)),
    (
        "box_read",
        Rule::Of(|m| {
            let bytes = BOX_ROWS[1] * ROW_BYTES / m.get("stream_store_l2_alone")?;
            Ok((m.get("boxes_out_read_1_8x64_Bf16_depth_1_alone_L2")? - bytes - BOX_OUT_LOOP).round())
        }),
    ),
    ("box_row", Rule::Of(|m| Ok(m.get("boxes_256x16_F32_depth_6_alone_L2")? / BOX_ROWS[0]))),
    ("box_piece", Rule::Of(|m| Ok(m.get("boxes_256x64_Bf16_depth_6_alone_Ragged")? / (BOX_ROWS[0] * PIECES)))),
    // Four warps for each scheduler.
    ("warp_product", Rule::Of(|m| Ok((m.get("mma_bf16_512_threads")? / SCHEDULERS).round()))),
    ("short_warp_product", Rule::Of(|m| Ok((m.get("mma_tf32_k4_512_threads")? / SCHEDULERS).round()))),
    (
        "product_column",
        // Of 256 columns.
        Rule::Of(|m| Ok(product(m)? / 256.0)),
    ),
    (
        "product_latency",
        Rule::Of(|m| Ok((m.get("products_bf16_256_shared_4_x1")? - 4.0 * product(m)? - GROUP_LOOP).round())),
    ),
    ("l2_bytes", Rule::AsMeasured("stream_load_l2_shared")),
    ("l2_bytes_own", Rule::AsMeasured("stream_load_l2")),
    ("l2_bytes_alone", Rule::Of(|m| Ok(BOX_ROWS[0] * ROW_BYTES / m.get("boxes_256x64_Bf16_depth_6_alone_L2")?))),
    ("l2_sectors", Rule::AsMeasured("scattered_load_l2")),
    ("store_bytes", Rule::AsMeasured("stream_store_l2")),
    ("store_bytes_alone", Rule::AsMeasured("stream_store_l2_alone")),
    ("store_sectors", Rule::AsMeasured("scattered_store_l2")),
    ("store_sectors_alone", Rule::AsMeasured("scattered_store_l2_alone")),
    (
        "dram_bytes",
        // The stream is 16 times as long as L2, part of which may have been cached.
        Rule::Of(|m| Ok((m.get("stream_load_memory")? * m.get("n_sms")? * (1.0 - 1.0 / 16.0)).round())),
    ),
    ("launch_ns", Rule::Of(|m| Ok(m.get("launch_384")?.round()))),
    ("cluster_launch_ns", Rule::Of(|m| Ok((m.get("launch_cluster")? - m.get("launch_384")?).round()))),
    ("dependent_launch_ns", Rule::Of(|m| Ok(m.get("launch_dependent")?.round()))),
    ("dependent_drain_ns", Rule::Of(|m| Ok((m.get("launch_dependent_store")? - m.get("launch_dependent")?).round()))),
    ("drain_ns", Rule::Of(|m| Ok((m.get("launch_store")? - m.get("launch_384")? - TO_STORE_NS).round()))),
    ("block_ns", Rule::AsMeasured("block_256")),
    (
        "warp_start",
        // Per block of 32 warps.
        Rule::Of(|m| Ok(m.get("block_1024")? * m.get("clock")? * m.get("n_sms")? / 32.0)),
    ),
    ("block_gap", Rule::Clocks("spin")),
];

/// Returns the clocks of a product, from groups of 4 and of 16.
fn product(measured: &Measurements) -> Result<f64> {
    let [few, many] = ["4", "16"].map(|n| measured.get(&format!("products_bf16_256_shared_{n}_x1")));
    Ok((many? - few?) / (16.0 - 4.0))
}

/// Returns the clocks of a wavefront of stores to another block, of eight warps.
fn remote_wavefront(measured: &Measurements) -> Result<f64> {
    Ok(measured.get("remote_stores_256_threads")? / (8.0 * STORED[0]))
}

/// Blocks whose barriers were measured, in warps: the constant part and the one for each warp come from the ends.
const BARRIERS: [f64; 2] = [1.0, 32.0];

fn barrier(measured: &Measurements) -> Result<(f64, f64)> {
    let [few, many] = BARRIERS.map(|n| measured.get(&format!("barrier_{n}")));
    let (few, many) = (few?, many?);
    let slope = (many - few) / (BARRIERS[1] - BARRIERS[0]);
    Ok(((few - slope * BARRIERS[0]).round(), slope.round()))
}

impl Rule {
    /// Returns the value, as the file has it, or `None` where a measurement is missing.
    fn value(&self, measured: &Measurements) -> Result<Option<Value>> {
        let value = match self {
            Rule::Clocks(name) => measured.get(name).map(|value| number(value.round()).into()),
            Rule::AsMeasured(name) => measured.get(name).map(|value| number(value).into()),
            Rule::Of(value) => value(measured).map(|value| number(value).into()),
            Rule::OfWidths(value) => {
                let values = WIDTHS.iter().map(|(bytes, wavefronts)| value(measured, bytes, *wavefronts).map(number));
                values.collect::<Result<Vec<Number>>>().map(Value::from)
            }
        };
        value.map(Some).or_else(|error| if error.is::<Missing>() { Ok(None) } else { Err(error) })
    }
}

/// Returns a whole number, or three digits: more than two measurements share.
fn number(value: f64) -> Number {
    if value.fract() == 0.0 {
        return (value as i64).into();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}").parse().expect("digits with a point are a number")
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: Vec<String>,
    name: String,
    constants: Vec<Constant>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    constant: String,
    value: Value,
    unit: String,
    how: String,
    measured: String,
}

struct Updated {
    text: String,
    /// `fma: 1, was 2`
    changes: Vec<String>,
    /// Constants that no measurement gives.
    left: Vec<String>,
}

fn update(old: &str, measured: &Measurements, is_new: bool) -> Result<Updated> {
    let mut file: File = serde_json::from_str(old)?;
    let missing: Vec<&str> = RULES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !file.constants.iter().any(|constant| constant.constant == *name))
        .collect();
    ensure!(missing.is_empty(), "the file has no constant called {}", missing.join(", "));
    file.name.clone_from(&measured.device);
    let (mut changes, mut left) = (Vec::new(), Vec::new());
    for Constant { constant, value: was, measured: origin, .. } in &mut file.constants {
        let rule = RULES.iter().find(|(name, _)| name == constant);
        match rule.map(|(_, rule)| rule.value(measured)).transpose().with_context(|| constant.clone())?.flatten() {
            Some(value) => {
                if *was != value {
                    changes.push(format!("{constant}: {value}, was {was}"));
                }
                *was = value;
                origin.clone_from(&measured.from);
            }
            None => {
                left.push(constant.clone());
                if is_new {
                    *origin = format!("not on this GPU: taken over from {FIRST}");
                }
            }
        }
    }
    ensure!(RULES.iter().any(|(name, _)| !left.iter().any(|left| left == name)), "calibrate measured no constant");
    Ok(Updated { text: serde_json::to_string_pretty(&file)? + "\n", changes, left })
}
