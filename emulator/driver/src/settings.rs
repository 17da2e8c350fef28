//! Settings: environment variables for the process, the extra API for a thread.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use simt::launch::{CheckLevel, LaunchOptions, Names};

use crate::{diagnose, sync::lock};

/// Thread-instructions after which a launch counts as runaway: minutes on an ordinary machine.
pub(crate) const DEFAULT_BUDGET: u64 = 1_000_000_000_000;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) check_level: CheckLevel,
    /// 0: no limit.
    pub(crate) budget: u64,
    /// 0: one per core.
    pub(crate) threads: usize,
    pub(crate) unordered: bool,
    /// Whether findings are printed on stderr.
    pub(crate) diagnosis: bool,
}

/// Settings that a thread chose for its own launches.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) check_level: Option<CheckLevel>,
    pub(crate) budget: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) unordered: Option<bool>,
    pub(crate) diagnosis: Option<bool>,
    /// Parameter names for the next launch only.
    next_params: Option<Vec<String>>,
    pub(crate) predicts_next: bool,
}

thread_local! {
    static CHOSEN: RefCell<Chosen> = RefCell::default();
}

/// Parses `off`, `count`, `on` or `global`.
pub(crate) fn check_level_from_name(name: &str) -> Option<CheckLevel> {
    Some(match name {
        "off" | "0" => CheckLevel::Off,
        "count" => CheckLevel::Count,
        "on" | "1" => CheckLevel::Checked,
        "global" => CheckLevel::CheckedWithGlobalRaces,
        _ => return None,
    })
}

/// Levels of checks by the numbers that `tile_set_checks` takes: those of `emulator_client::CheckLevel`.
pub(crate) const CHECK_LEVELS: [CheckLevel; 4] =
    [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked, CheckLevel::CheckedWithGlobalRaces];

/// Reads a variable; prints a hint if its value is not understood.
fn variable<T>(name: &str, hint: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var(name).ok().filter(|t| !t.is_empty())?;
    let value = read(text.trim());
    if value.is_none() {
        diagnose::print_once(&format!("{name}={text} is not understood and ignored; {hint}"));
    }
    value
}

fn number(text: &str) -> Option<u64> {
    text.replace('_', "").parse().ok()
}

pub(crate) fn process() -> Settings {
    static PROCESS: OnceLock<Settings> = OnceLock::new();
    *PROCESS.get_or_init(|| Settings {
        check_level: variable("TILE_CHECK", "use off, count, on or global", check_level_from_name)
            .unwrap_or(CheckLevel::Checked),
        budget: variable("TILE_BUDGET", "use a number of thread-instructions, 0 for no limit", number)
            .unwrap_or(DEFAULT_BUDGET),
        threads: variable("TILE_THREADS", "use a number, 0 for one per core", number).unwrap_or(0) as usize,
        unordered: variable("TILE_UNORDERED", "use 0 or 1", number).unwrap_or(0) != 0,
        diagnosis: variable("TILE_DIAGNOSIS", "use 0 or 1", number).unwrap_or(1) != 0,
    })
}

/// Returns the device memory in bytes: `TILE_MEMORY` in MiB, else half of the memory that the process may use.
pub(crate) fn memory_bytes() -> u64 {
    const MIB: u64 = 1 << 20;
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let chosen = variable("TILE_MEMORY", "use a number of MiB", number);
        let half = machine_bytes(&|path| std::fs::read_to_string(path).ok()).map(|bytes| bytes / MIB / 2);
        chosen.unwrap_or_else(|| half.unwrap_or(4096).clamp(1024, 80 * 1024)).clamp(16, 1 << 20) * MIB
    })
}

/// Returns the memory that this process may use: the machine's, or less where a control group sets a limit (in a
/// container, the machine's own figure is of no use). `read` reads a file.
fn machine_bytes(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let meminfo = read("/proc/meminfo")?;
    let total = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let mut least = total.split_whitespace().next()?.parse::<u64>().ok()? << 10;
    // `0::/a/b` in version 2, `9:memory:/a/b` in version 1. Limits of parent groups hold, too; inside a container, the
    // path is often one of the outside, and the limit is at the root of the mount.
    for line in read("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        for group in Path::new(path).ancestors() {
            let group = group.to_string_lossy();
            let text = read(&format!("{root}{}/{file}", group.trim_end_matches('/')));
            // `max` is not a number, and no limit.
            if let Some(limit) = text.and_then(|text| text.trim().parse().ok()) {
                least = least.min(limit);
            }
        }
    }
    Some(least)
}

pub(crate) fn current() -> Settings {
    let process = process();
    let chosen = CHOSEN.try_with(|chosen| {
        let chosen = chosen.borrow();
        Settings {
            check_level: chosen.check_level.unwrap_or(process.check_level),
            budget: chosen.budget.unwrap_or(process.budget),
            threads: chosen.threads.unwrap_or(process.threads),
            unordered: chosen.unordered.unwrap_or(process.unordered),
            diagnosis: chosen.diagnosis.unwrap_or(process.diagnosis),
        }
    });
    // The choices of a thread that is ending are gone.
    chosen.unwrap_or(process)
}

pub(crate) fn choose(change: impl FnOnce(&mut Chosen)) {
    let _ = CHOSEN.try_with(|chosen| change(&mut chosen.borrow_mut()));
}

static PARAMS: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
static SOURCES: Mutex<BTreeMap<String, Arc<str>>> = Mutex::new(BTreeMap::new());

/// Names a kernel's parameters: for all later launches of it, or without a kernel, for this thread's next launch.
pub(crate) fn name_params(kernel: Option<String>, names: Vec<String>) {
    match kernel {
        Some(kernel) => {
            lock(&PARAMS).insert(kernel, names);
        }
        None => choose(|c| c.next_params = Some(names)),
    }
}

/// Returns whether a prediction of the next launch was requested, and resets the request.
pub(crate) fn takes_prediction() -> bool {
    let mut predicts = false;
    choose(|c| predicts = std::mem::take(&mut c.predicts_next));
    predicts
}

pub(crate) fn add_source(path: String, text: Arc<str>) {
    lock(&SOURCES).insert(path, text);
}

/// Returns the options for the calling thread's next launch.
pub(crate) fn options_for(kernel: &str, found_sources: &[(String, Arc<str>)]) -> LaunchOptions {
    let settings = current();
    let (mut next, mut budget) = (None, Some("TILE_BUDGET"));
    choose(|c| {
        next = c.next_params.take();
        budget = budget.filter(|_| c.budget.is_none());
    });
    let params = next.or_else(|| {
        let all = lock(&PARAMS);
        all.get(kernel).cloned()
    });
    let given = lock(&SOURCES);
    let mut sources: Vec<_> = given.iter().map(|(p, t)| (p.clone(), Arc::clone(t))).collect();
    drop(given);
    sources.extend(found_sources.iter().cloned());
    LaunchOptions {
        check_level: settings.check_level,
        budget: NonZeroU64::new(settings.budget),
        threads: NonZeroUsize::new(settings.threads),
        unordered: settings.unordered,
        names: Names { params: params.unwrap_or_default(), sources, budget },
        ..LaunchOptions::default()
    }
}

/// Largest source file that is read for messages.
const MAX_SOURCE: u64 = 1 << 20;

/// Limits on the number and bytes of files for one module's messages.
const MAX_SOURCES: usize = 1000;
const MAX_SOURCE_BYTES: usize = 16 << 20;

/// Returns the texts of the files that a module names, except for those that changed since `ptx` recorded their hash.
pub(crate) fn find_sources<'a>(ptx: &str, paths: impl Iterator<Item = &'a str>) -> Vec<(String, Arc<str>)> {
    let (mut seen, mut found, mut bytes) = (BTreeSet::new(), Vec::new(), 0);
    for path in paths {
        if seen.len() >= MAX_SOURCES || bytes >= MAX_SOURCE_BYTES {
            break;
        }
        if seen.insert(path)
            && let Some(text) = find_source(path)
        {
            let hash = made_of(ptx).find(|(file, _)| *file == path).map(|(_, hash)| hash);
            if hash.is_some_and(|hash| hash != sha256::sha256(text.as_bytes())) {
                let source = made_of(ptx).next().map_or(path, |(source, _)| source);
                diagnose::print_once(&format!(
                    "{path} has changed since this PTX was made, and messages show no lines of it; compile again with: \
                     cargo xtask ptx {source}"
                ));
                continue;
            }
            bytes += text.len();
            found.push((path.to_owned(), text));
        }
    }
    found
}

/// Returns the files that PTX was compiled from, source first, with their hashes: `// source: kernels/a.cu sha256:…`.
fn made_of(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = ptx.lines().take_while(|line| line.starts_with("//"));
    lines.filter_map(|line| line.split_once(": ")?.1.split_once(" sha256:"))
}

/// Reads a file that a module names, for messages, if it looks like source: modules must not print any file they like.
fn find_source(path: &str) -> Option<Arc<str>> {
    let path = Path::new(path);
    let extension = path.extension()?.to_str()?;
    if !["cu", "cuh", "h", "hpp", "cpp", "cc", "inl", "py"].contains(&extension) {
        return None;
    }
    candidates(path).into_iter().find_map(|candidate| {
        let metadata = std::fs::metadata(&candidate).ok()?;
        // In a header of a CUDA toolkit, messages show the line that uses it, not a line of its own.
        let mut folders = candidate.ancestors().skip(1);
        let is_of_toolkit = folders.any(|folder| folder.join("cuda_runtime_api.h").is_file());
        if !metadata.is_file() || metadata.len() > MAX_SOURCE || is_of_toolkit {
            return None;
        }
        std::fs::read_to_string(&candidate).ok().map(Arc::from)
    })
}

/// Returns paths at which a source may lie: as named from here or a folder above (a package's tests run in the
/// package's folder, its paths start at the workspace), and in the folders of `TILE_SOURCES`.
fn candidates(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(folders) = std::env::var_os("TILE_SOURCES") {
        for folder in std::env::split_paths(&folders) {
            found.extend(path.file_name().map(|name| folder.join(name)));
            if path.is_relative() {
                found.push(folder.join(path));
            }
        }
    }
    if path.is_absolute() {
        found.push(path.to_owned());
    } else if let Ok(here) = std::env::current_dir() {
        found.extend(here.ancestors().take(6).map(|folder| folder.join(path)));
    }
    found
}
