//! `cargo xtask profile`: the launches of a step under Nsight Compute, beside what the emulated GPU counts for them.
//!
//! The step launches each of its kernels once (`v05 launch`), so that the profiler sees one launch per kernel. On a
//! machine without a GPU or without the tool, the commands are printed, ready to run elsewhere.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use catalog::text::{Paint, Table};
use catalog::{STEPS, Shape, Step};
use records::Run;
use records::profile::{self, Counted, PAIRS, Profile, ProfileRecord, Profiler, Sheet};
use records::record::{Launched, Line};
use serde_json::json;
use xtask_support::CommandOutcome;
use xtask_support::committed::write_changed;
use xtask_support::output::{self, Status};
use xtask_support::programs::Programs;
use xtask_support::{interrupt, kernels, paths, step_args};

use crate::commands::measure::tools;

const PROFILER: &str = "ncu";

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask profile v05\n          \
    cargo xtask profile v04 v05 --size 509x503x499\n          \
    cargo xtask profile all --save\n          cargo xtask profile --table")]
pub(crate) struct Args {
    /// Steps: `v05`, `5`, `bank-conflict-free`, or `all`
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    #[command(flatten)]
    sizes: step_cli::Sizes,
    /// Save what Nsight Compute counts in book/data; without sizes, profile at all recorded sizes
    #[arg(long)]
    save: bool,
    /// Count the recorded launches again on the emulated GPU, of all steps or of these, and write kernels/counters.json
    /// and COUNTERS.md
    #[arg(long, conflicts_with_all = ["save", "size", "m", "n", "k"])]
    table: bool,
    /// With --table: write nothing; fail if a file would change
    #[arg(long, requires = "table")]
    check: bool,
    /// Print one JSON record per launch, with both kinds of counters
    #[arg(long, conflicts_with = "table")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    if args.table {
        return table(&args.steps, args.check);
    }
    let steps = step_args::with_kernels(&step_args::steps("profile", &args.steps)?)?;
    let shapes = match (step_args::shapes(&args.sizes, &steps)?, args.save) {
        (none, true) if none.is_empty() => profile::SHAPES.to_vec(),
        (none, false) if none.is_empty() => vec![Shape::square(1024)],
        (asked, _) => asked,
    };
    let folder = args.save.then(|| paths::record_folder("without it, the counters are shown only")).transpose()?;
    let programs = kernels::programs(&steps)?;
    let (Some(tool), true) = (tools::tool(PROFILER), paths::has_gpu() && !emulated_only()) else {
        return print_commands(&programs, &steps, &shapes);
    };
    let version = tools::version(&tool).unwrap_or_else(|| "of unknown version".into());
    let mut session = Session {
        programs: &programs,
        tool: tool.display().to_string(),
        version: format!("Nsight Compute {version}"),
        by: None,
        record: ProfileRecord::default(),
    };
    let paint = Paint::for_stdout();
    for step in &steps {
        for shape in &shapes {
            let profiles = session.profile(step, *shape)?;
            let launches = emulated(&programs, step, *shape)
                .inspect_err(|error| output::note(&format!("no emulated counters: {error:#}")))
                .unwrap_or_default();
            output::print(&if args.json {
                as_json(&profiles, &launches)
            } else {
                render_table(&profiles, &launches, paint)
            })?;
        }
        if let Some(folder) = &folder {
            let path = session.save(folder)?;
            output::note(&format!("saved in {}", paths::display_path(&path)));
        }
        output::note(&format!("a time line of it: {}", timeline(&programs, step, shapes.first())));
    }
    Ok(CommandOutcome::Passed)
}

/// Returns whether TILE_DEVICE asks for the emulated GPU, as for outputs of the book: then commands are printed.
fn emulated_only() -> bool {
    std::env::var_os("TILE_DEVICE").is_some_and(|asked| asked == "emulated")
}

fn launch(shape: Shape, json: bool) -> Vec<String> {
    let mut words = vec!["launch".to_owned()];
    words.extend(step_args::arguments(&[shape]));
    words.extend(json.then(|| "--json".to_owned()));
    words
}

/// Returns the profiler and its arguments, except for where its answer goes.
fn profiler(program: &str, step: &Step) -> Vec<String> {
    let names: Vec<&str> = step.kernels.iter().map(|kernel| kernel.name).collect();
    let metrics: Vec<&str> = PAIRS.iter().flat_map(|pair| pair.metrics).copied().collect();
    [
        program,
        "--clock-control",
        "none",
        "--kernel-name",
        &format!("regex:^({})$", names.join("|")),
        "--metrics",
        &metrics.join(","),
    ]
    .map(str::to_owned)
    .into()
}

fn timeline(programs: &Programs, step: &Step, shape: Option<&Shape>) -> String {
    let tool = ["nsys", "profile", "--trace=cuda", "--stats=true", &format!("--output={}", step.id)].map(str::to_owned);
    let mut words = vec!["bench".to_owned()];
    words.extend(step_args::arguments(shape.copied().as_slice()));
    programs.command_line(&tool, step, &words)
}

/// Explains what to run on a machine with a GPU and a profiler, where one of them is missing.
fn print_commands(programs: &Programs, steps: &[&'static Step], shapes: &[Shape]) -> Result<CommandOutcome> {
    let mut out = String::new();
    for step in steps {
        for shape in shapes {
            let tool = profiler(PROFILER, step);
            out.push_str(&format!("{}\n", programs.command_line(&tool, step, &launch(*shape, false))));
        }
        out.push_str(&format!("{}\n", timeline(programs, step, shapes.first())));
    }
    output::print(&out)?;
    let missing = if !paths::has_gpu() {
        "this machine has no NVIDIA GPU"
    } else if emulated_only() {
        "TILE_DEVICE asks for the emulated GPU"
    } else {
        "Nsight Compute (ncu) is not on the PATH"
    };
    Err(anyhow!("{missing}, so nothing was profiled; run the commands above on a machine that has both"))
}

/// Returns the emulated GPU's counters for the same launches.
fn emulated(programs: &Programs, step: &'static Step, shape: Shape) -> Result<Vec<Launched>> {
    let mut words = launch(shape, true);
    words.push("--emulate".into());
    Ok(launched(programs, &[], step, &words)?.1)
}

/// Runs `launch` of a step, under a tool or by itself.
fn launched(
    programs: &Programs, tool: &[String], step: &'static Step, words: &[String],
) -> Result<(Option<Run>, Vec<Launched>)> {
    let status = Status::on_stderr();
    status.set(&format!("{}  {}", step.id, words.join(" ")));
    let (mut run, mut launches) = (None, Vec::new());
    let ended = programs.stream_records(tool, step, words, &status, |_, line| {
        match line {
            Line::Run(found) => run = Some(*found),
            Line::Launched(one) => launches.push(*one),
            _ => {}
        }
        Ok(())
    })?;
    status.clear();
    interrupt::check(format!("{} was not finished", step.id))?;
    match ended.code {
        Some(0) => Ok((run, launches)),
        _ => bail!(ended.could_not_run(step)),
    }
}

struct Session<'a> {
    programs: &'a Programs,
    tool: String,
    version: String,
    /// Described by the first process.
    by: Option<Profiler>,
    record: ProfileRecord,
}

impl Session<'_> {
    /// Returns each kernel of a step on one shape.
    fn profile(&mut self, step: &'static Step, shape: Shape) -> Result<Vec<Profile>> {
        let answer = std::env::temp_dir().join(format!("tile-{}-{}.csv", step.id, std::process::id()));
        let mut tool = profiler(&self.tool, step);
        tool.extend(["--csv", "--print-units", "base", "--log-file"].map(str::to_owned));
        tool.push(answer.display().to_string());
        let outcome = launched(self.programs, &tool, step, &launch(shape, true));
        let text = std::fs::read_to_string(&answer).unwrap_or_default();
        let _ = std::fs::remove_file(&answer);
        let complaints = complaints(&text);
        ensure!(complaints.is_empty(), "{PROFILER} could not profile {}: {complaints}", step.id);
        let (run, launches) = outcome?;
        let run = run.with_context(|| format!("{} did not say where it ran", step.id))?;
        let by = self.by.get_or_insert(Profiler {
            run,
            profiler: self.version.clone(),
            driver_version: tools::driver_version().unwrap_or_else(|| "unknown".into()),
        });
        let mut seen = parse(&text)?;
        let mut profiles = Vec::new();
        for one in launches {
            if let Some(why) = one.not_run {
                output::note(&format!("{} on {}: not run: {why}", one.kernel, one.shape));
                continue;
            }
            // A library's launches have names of their own.
            let mut listed = step.kernels.iter();
            if listed.any(|kernel| kernel.name == one.kernel && kernel.source.is_none()) {
                continue;
            }
            let at = seen
                .iter()
                .position(|launch| launch.kernel == one.kernel)
                .with_context(|| format!("{PROFILER} saw no launch of {}", one.kernel))?;
            let launch = seen.swap_remove(at);
            if (launch.grid, launch.block) != (one.grid, one.block) {
                bail!(
                    "{PROFILER} saw {} with {:?} blocks of {:?} threads, not {:?} of {:?}",
                    one.kernel,
                    launch.grid,
                    launch.block,
                    one.grid,
                    one.block
                );
            }
            let profile = Profile {
                run: by.run.id.clone(),
                step: one.step,
                kernel: one.kernel,
                shape: one.shape,
                ptx_sha256: one.ptx_sha256,
                grid: one.grid,
                block: one.block,
                dynamic_shared: one.dynamic_shared,
                metrics: launch.metrics,
            };
            self.record.add(by, profile.clone());
            profiles.push(profile);
        }
        Ok(profiles)
    }

    /// Adds what was seen so far to the file of this machine.
    fn save(&self, folder: &Path) -> Result<PathBuf> {
        let by = self.by.as_ref().context("nothing was profiled")?;
        let path = folder.join(format!("{}-counters.json", by.run.slug()));
        ProfileRecord::merge_into(&path, by, &self.record.profiles)?;
        Ok(path)
    }
}

/// Returns the complaint of the profiler, in one line.
fn complaints(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("==ERROR== ")).collect();
    if lines.iter().any(|line| line.contains("ERR_NVGPUCTRPERM")) {
        lines.push("counters may be read by an administrator only; run it as root, or see the address above");
    }
    lines.join("; ")
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    metrics: BTreeMap<String, u64>,
}

/// Reads the table that `ncu --csv` writes: a line per launch and metric.
fn parse(text: &str) -> Result<Vec<Seen>> {
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('"')).collect();
    ensure!(!table.is_empty(), "the profiler's answer has no table");
    let table = table.join("\n");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let heading = reader.headers()?.clone();
    let mut all: Vec<(String, Seen)> = Vec::new();
    for row in reader.records() {
        let row = row?;
        let cell = |column: &str| {
            let at = heading.iter().position(|cell| cell == column);
            let at = at.with_context(|| format!("the profiler's table has no column {column}"))?;
            anyhow::Ok(row.get(at).unwrap_or_default())
        };
        let (id, metric) = (cell("ID")?, cell("Metric Name")?);
        if all.last().is_none_or(|(last, _)| last != id) {
            let kernel = cell("Kernel Name")?.split('(').next().unwrap_or_default().to_owned();
            let (grid, block) = (sizes(cell("Grid Size")?)?, sizes(cell("Block Size")?)?);
            all.push((id.to_owned(), Seen { kernel, grid, block, metrics: BTreeMap::new() }));
        }
        if let Some((_, seen)) = all.last_mut() {
            seen.metrics.insert(metric.to_owned(), count(metric, cell("Metric Value")?)?);
        }
    }
    Ok(all.into_iter().map(|(_, seen)| seen).collect())
}

/// Reads sizes of a grid or a block as the profiler prints them: `(32, 8, 1)`.
fn sizes(text: &str) -> Result<[u32; 3]> {
    let numbers: Vec<u32> =
        text.trim_matches(['(', ')']).split(',').filter_map(|number| number.trim().parse().ok()).collect();
    <[u32; 3]>::try_from(numbers).map_err(|_| anyhow!("cannot parse the profiler's launch dimensions `{text}`"))
}

/// Reads a number as the profiler prints it: `1,107,296,256`.
fn count(metric: &str, text: &str) -> Result<u64> {
    text.replace(',', "")
        .parse()
        .map_err(|_| anyhow!("the profiler says `{text}` for {metric}; this device may not have it"))
}

/// Returns the emulated launch that belongs to a profile.
fn same<'a>(profile: &Profile, launches: &'a [Launched]) -> Option<&'a Launched> {
    launches.iter().find(|one| one.kernel == profile.kernel && one.shape == profile.shape)
}

/// Returns one line per launch: what was measured, with the emulated GPU's counters.
fn as_json(profiles: &[Profile], launches: &[Launched]) -> String {
    let line = |profile| {
        let emulated = same(profile, launches).and_then(|one| one.counters.as_ref());
        format!("{}\n", json!({ "profile": profile, "emulated": emulated }))
    };
    profiles.iter().map(line).collect()
}

fn render_table(profiles: &[Profile], launches: &[Launched], paint: Paint) -> String {
    let mut out = String::new();
    for profile in profiles {
        let title = format!("{} on {}", profile.kernel, profile.shape);
        out.push_str(&format!("{}\n", paint.bold(&title)));
        let counters = same(profile, launches).and_then(|one| one.counters.as_ref());
        let Some(counted) = counters.and_then(|counters| Counted::new(profile, counters)) else {
            let mut table = Table::new(["metric", "Nsight Compute"]);
            for (metric, value) in &profile.metrics {
                table.row([metric.clone(), value.to_string()]);
            }
            out.push_str(&format!("{}\n", table.render(paint)));
            continue;
        };
        let mut table = Table::new(["counter", "emulated", "Nsight Compute", "difference"]);
        let mut remarks: Vec<(String, Vec<String>)> = Vec::new();
        for one in counted.compared() {
            let [name, ours, theirs, difference, remark] = one.cells(&profile.kernel);
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                _ if remark.is_empty() => {}
                Some((_, names)) => names.push(name.clone()),
                None => remarks.push((remark, vec![name.clone()])),
            }
            table.row([name, ours, theirs, difference]);
        }
        out.push_str(&table.render(paint));
        out.extend(remarks.iter().map(|(remark, names)| format!("  {}: {remark}\n", names.join(", "))));
        out.push('\n');
    }
    out
}

/// Counts again what is on record, of all steps or of some, and writes the sheet and its page, or compares them.
fn table(steps: &[String], check: bool) -> Result<CommandOutcome> {
    let root = paths::checkout()
        .context("--table writes kernels/counters.json of a checkout, and this folder is not in one")?;
    let mut record = ProfileRecord::default();
    for found in records(&root)? {
        for profile in found.profiles {
            if let Some(by) = found.runs.iter().find(|by| by.run.id == profile.run) {
                record.add(by, profile);
            }
        }
    }
    if record.profiles.is_empty() {
        bail!("no counters in book/data; record some on a machine with a GPU: cargo xtask profile all --save");
    }
    let has = |step: &&Step| record.profiles.iter().any(|profile| profile.step == step.id);
    let all = steps.is_empty();
    let chosen = match steps {
        [] => STEPS.iter().collect(),
        _ => step_args::steps("profile", steps)?,
    };
    let steps: Vec<&'static Step> = chosen.into_iter().filter(has).collect();
    let programs = kernels::programs(&steps)?;
    let mut launches = Vec::new();
    for step in steps {
        let mut shapes: Vec<Shape> = Vec::new();
        for profile in record.profiles.iter().filter(|profile| profile.step == step.id) {
            // A transpose has no K, and is launched with the products of its step.
            let Shape { m, n, k } = profile.shape;
            match shapes.iter_mut().find(|shape| (shape.m, shape.n) == (m, n)) {
                Some(shape) => shape.k = shape.k.max(k),
                None => shapes.push(profile.shape),
            }
        }
        for shape in shapes {
            launches.extend(emulated(&programs, step, shape)?);
        }
    }
    // Launches that are not counted again stay.
    let before = std::fs::read_to_string(root.join(profile::SHEET)).ok();
    let before = before.map(|text| Sheet::parse(&text)).transpose().map_err(Error::msg)?;
    let kept = before.as_ref().filter(|_| !all);
    let sheet = Sheet::new(&record, &launches, kept).map_err(Error::msg)?;
    let files = [(profile::SHEET, sheet.text()), (profile::PAGE, sheet.page())];
    let stale = write_changed(&root, files.map(|(file, text)| (root.join(file), text.into_bytes())), check)?;
    if !check || stale == 0 {
        return Ok(CommandOutcome::Passed);
    }
    output::error("the counters are out of date; write them again with: cargo xtask profile --table");
    Ok(CommandOutcome::Failed)
}

fn records(root: &Path) -> Result<Vec<ProfileRecord>> {
    let folder = root.join("book/data");
    let paths = catalog::files::files_ending_with(&folder, "-counters.json")
        .with_context(|| format!("reading {}", paths::display_path(&folder)))?;
    paths.iter().map(|path| Ok(ProfileRecord::load(path)?)).collect()
}
