//! `cargo xtask doctor`: what this machine has, what each missing thing costs, and how to get it.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use catalog::{find, programs::cublas_folders, text::Paint};
use records::Roofline;
use serde_json::json;
use xtask_support::{CommandOutcome, find_nvrtc::Damaged, nvrtc::Nvrtc, programs::Programs};
use xtask_support::{interrupt, output, paths, wheels};

use crate::commands::{learn::home, measure::tools};

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask doctor --json")]
pub(crate) struct Args {
    /// Print one JSON record per finding
    #[arg(long)]
    json: bool,
}

struct Item {
    name: &'static str,
    /// Description of what was found; `None` when it is missing.
    found: Option<String>,
    /// Features that need it.
    cost: String,
    /// Instruction for getting it.
    get: &'static str,
}

fn item(name: &'static str, found: Option<String>, cost: impl Into<String>, get: &'static str) -> Item {
    Item { name, found, cost: cost.into(), get }
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    interrupt::watch();
    let sections =
        [("Machine", machine()), ("GPU", gpu()), ("Compilers of kernels", compilers()), ("NVIDIA's tools", tools())];
    let paint = Paint::for_stdout();
    let mut out = String::new();
    for (section, items) in &sections {
        if !args.json {
            out.push_str(&format!("{}\n", paint.bold(section)));
        }
        out.extend(items.iter().map(|item| if args.json { as_json(section, item) } else { line(item, paint) }));
        if !args.json {
            out.push('\n');
        }
    }
    output::print(&out)?;
    if paths::has_gpu() {
        let words = match roofline() {
            Ok(found) if args.json => {
                format!("{}\n", json!({ "section": "GPU", "name": "roofline", "found": found }))
            }
            Ok(Roofline { fp32_tflops, copy_gbs }) => {
                let ridge = fp32_tflops * 1e3 / copy_gbs;
                format!(
                    "{}\n  FP32 multiply-adds  {fp32_tflops:.1} TFLOP/s\n  copy                {copy_gbs:.0} GB/s\n  \
                     ridge               {ridge:.1} FLOP per byte: below it, memory is the limit\n\n",
                    paint.bold("Roofline, measured just now")
                )
            }
            Err(error) => {
                output::note(&format!("the roofline was not measured: {error:#}"));
                String::new()
            }
        };
        output::print(&words)?;
    }
    if !args.json {
        let me = paths::command_name();
        let [_, _, (_, compilers), _] = &sections;
        output::print(&if compilers.iter().all(|item| item.found.is_none()) {
            format!("Committed kernels run here; to write your own: {me} setup\n")
        } else {
            let next = paths::checkout().and_then(|root| home::next(&root));
            let (next, _) = next.unwrap_or_else(|| (format!("{me} bench v05"), ""));
            let works = if paths::has_gpu() { "" } else { "Everything but timing works here, on the emulated GPU. " };
            format!("{works}Next: {next}\n")
        })?;
    }
    Ok(CommandOutcome::Passed)
}

fn line(item: &Item, paint: Paint) -> String {
    match &item.found {
        Some(found) => format!("  {:<18}  {found}\n", item.name),
        None => format!(
            "  {:<18}  {}; without it: {}\n  {:<18}  to get it: {}\n",
            item.name,
            paint.bad("not here"),
            item.cost,
            "",
            item.get
        ),
    }
}

fn as_json(section: &str, item: &Item) -> String {
    let missing = item.found.is_none();
    let line = json!({
        "section": section,
        "name": item.name,
        "found": item.found,
        "cost": missing.then_some(&item.cost),
        "get": missing.then_some(&item.get),
    });
    format!("{line}\n")
}

fn machine() -> Vec<Item> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory = [("MemTotal", "in all"), ("MemAvailable", "free")].map(|(name, what)| {
        let kib: f64 = field("/proc/meminfo", name)?.split(' ').next()?.parse().ok()?;
        Some(format!("{:.1} GiB {what}", kib / (1024.0 * 1024.0)))
    });
    let memory: Vec<String> = memory.into_iter().flatten().collect();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = tools::first_line(Path::new(&rustc), "--version");
    let processor = format!("{model}, {threads} threads, {}", vectors());
    let memory = Some(memory.join(", ")).filter(|text| !text.is_empty());
    let unreadable = "how much there is cannot be read on this system";
    vec![
        item("Rust", rustc, "copied programs run, but nothing can be built", "https://rustup.rs"),
        item("processor", Some(processor), "", ""),
        item("memory", memory, unreadable, "nothing: it is not needed"),
    ]
}

/// Returns the vector instructions that the emulated GPU uses.
fn vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "neither AVX2 nor AVX-512, so the emulated GPU is slower"
}

fn gpu() -> Vec<Item> {
    let query = "--query-gpu=name,compute_cap,memory.total,driver_version";
    let smi = tools::tool("nvidia-smi").and_then(|smi| tools::output(&smi, &[query, "--format=csv,noheader"]));
    let devices: Vec<String> = smi.iter().flat_map(|text| text.lines()).map(device).collect();
    let devices = (!devices.is_empty()).then(|| devices.join("; "));
    let cost = "the steps run on the emulated GPU, with counters and no times";
    let get = "a machine with an NVIDIA GPU and its driver (nvidia-smi must list it)";
    let mut items = vec![item("NVIDIA GPU", devices, cost, get)];
    if paths::has_gpu() {
        let cublas = cublas().map(|path| path.display().to_string());
        let get = "python3 -m pip install nvidia-cublas-cu12, or a CUDA toolkit";
        items.push(item("cuBLAS", cublas, "v09 and every `% of cuBLAS` are left out", get));
    }
    items
}

/// Returns the library, in the folders where a step looks for it.
fn cublas() -> Option<PathBuf> {
    let on_path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    folders.extend(["/usr/lib/x86_64-linux-gnu", "/usr/lib64"].map(PathBuf::from));
    folders.extend(cublas_folders());
    let names = ["libcublas.so", "libcublas.so.13", "libcublas.so.12"];
    let mut paths = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
    paths.find(|path| path.is_file())
}

/// Returns a line of `nvidia-smi`, in words.
fn device(line: &str) -> String {
    match line.split(", ").collect::<Vec<_>>().as_slice() {
        [name, capability, memory, driver] => {
            format!("{name}, compute capability {capability}, {memory}, driver {driver}")
        }
        _ => line.to_owned(),
    }
}

fn compilers() -> Vec<Item> {
    let found = Nvrtc::find().and_then(|nvrtc| match wheels::damaged(&wheels::directory()) {
        Some(file) if nvrtc.directory.starts_with(wheels::directory()) => {
            bail!(Damaged::file(&file))
        }
        _ => Ok(nvrtc),
    });
    let damaged = found.as_ref().err().and_then(|error| error.downcast_ref::<Damaged>());
    let why = damaged.map(|damaged| format!(" ({damaged})")).unwrap_or_default();
    let cost = "your copies of v01 to v08 are compiled by the built-in compiler, whose numbers of instructions differ; \
        an edited kernel of the steps is not compiled";
    let nvrtc = found.ok().map(|nvrtc| nvrtc.title());
    vec![item("NVRTC", nvrtc, format!("{cost}{why}"), "cargo xtask setup, in a checkout")]
}

fn tools() -> Vec<Item> {
    let tool = |name, cost: &str, get| {
        let path = tools::tool(name);
        let version = path.as_deref().and_then(tools::version);
        let found = path.map(|path| match version {
            Some(version) => format!("{version} in {}", path.display()),
            None => path.display().to_string(),
        });
        item(name, found, cost, get)
    };
    let toolkit = "a CUDA toolkit: https://developer.nvidia.com/cuda-downloads";
    let no_counters = "no counters of a real GPU to set beside the emulated ones";
    vec![
        tool("ncu", no_counters, "https://developer.nvidia.com/nsight-compute"),
        tool("nsys", "no time lines of a whole program", "https://developer.nvidia.com/nsight-systems"),
        tool("compute-sanitizer", "only the emulated GPU checks accesses and races", toolkit),
    ]
}

/// Ceilings of the device, from the first step.
fn roofline() -> Result<Roofline> {
    let step = find("v01")?;
    let programs = Programs::find_or_build(&[step])?;
    programs.roofline(step)
}

/// Reads a field, `name : value`, of a file of `/proc`.
fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name)?;
    Some(line.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_told_in_words() {
        assert_eq!(
            device("NVIDIA H200, 9.0, 143771 MiB, 580.82.07"),
            "NVIDIA H200, compute capability 9.0, 143771 MiB, driver 580.82.07"
        );
    }
}
