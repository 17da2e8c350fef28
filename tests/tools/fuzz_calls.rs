//! Calls every function of the driver in any order, with handles, sizes and addresses that are right, stale or made
//! up, until the time is up.
//!
//! `cargo run -p tests --example fuzz_calls -- --seconds 3600 [--seed SEED]`
//!
//! With `FUZZ_TRACE=1`, each call is printed before it is made. The signatures are read from the driver's sources.
//! Host pointers are null or lead to memory of the fuzzer, with room for what the call may read or write there: no
//! driver survives others. So host addresses that calls return (pinned memory, which may be freed by then; functions)
//! go only to calls that look them up. Each call must come back with a code that CUDA knows, and not with
//! `CUDA_ERROR_UNKNOWN`.

#[path = "fuzz/driver.rs"]
mod driver;
#[path = "fuzz/mod.rs"]
mod fuzz;

use std::error::Error;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::ExitCode;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const CALLS: u32 = 400;

/// Device addresses begin here; handles are far below host addresses.
const FIRST_DEVICE_ADDRESS: u64 = 1 << 48;
const LAST_HANDLE: u64 = u32::MAX as u64;

/// Calls that look a host address up, and read and write nothing there.
#[rustfmt::skip]
const LOOK_UP: [&str; 7] = [
    "cuMemFreeHost", "cuMemFree_v2", "cuMemHostUnregister", "cuMemHostGetDevicePointer_v2",
    "cuMemHostGetFlags", "cuMemGetAddressRange_v2", "cuPointerGetAttribute",
];

const PTX: &str = include_str!("fuzz_calls.ptx");

/// Kinds of arguments, by the values that are made for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A pointer to something that is read or written.
    Memory,
    Pointers,
    Launch,
    Structure,
    Text,
    Image,
    Handle,
    Address,
    /// Number of elements behind another argument.
    Count,
    Number,
    Function,
    /// Only null is right.
    Null,
}

struct Call {
    name: String,
    arguments: Vec<Kind>,
}

fn kind(name: &str, ty: &str) -> Kind {
    let ty = ty.trim();
    match ty {
        "Handle" => Kind::Handle,
        "Text" => Kind::Text,
        "In<u8>" => Kind::Image,
        // Values in these lists are pointers that a call follows.
        _ if ["extra", "options", "values"].contains(&name) => Kind::Null,
        "In<LaunchConfigC>" => Kind::Launch,
        "In<*mut c_void>" | "In<u64>" | "Out<*mut c_void>" => Kind::Pointers,
        _ if ty.starts_with("In<") => Kind::Structure,
        "Host" | "*mut c_void" => Kind::Memory,
        _ if ty.starts_with("Out<") => Kind::Memory,
        "u64" => Kind::Address,
        "StreamCallback" | "HostFn" | "BlockToShared" => Kind::Function,
        _ if ["n", "len", "count", "size", "n_affinity", "bytes"].contains(&name) => Kind::Count,
        _ => Kind::Number,
    }
}

fn calls(folder: &Path) -> Result<Vec<Call>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let text = std::fs::read_to_string(file.path())?;
        for part in text.split("\n    fn cu").skip(1) {
            // A body is `{ … }` or `= …;`: the arguments end at the first parenthesis, no type has one.
            let Some((names, rest)) = part.split_once('(') else { continue };
            let Some((list, _)) = rest.split_once(')') else { continue };
            let arguments: Vec<Kind> =
                list.split(',').filter_map(|one| one.split_once(':')).map(|(name, ty)| kind(name.trim(), ty)).collect();
            // `NAME SINCE / ALIAS | NAME SINCE / ALIAS`
            for name in names.split(['/', '|']).filter_map(|one| one.split_whitespace().next()) {
                let name = name.strip_prefix("cu").unwrap_or(name);
                found.push(Call { name: format!("cu{name}"), arguments: arguments.clone() });
            }
        }
    }
    Ok(found)
}

#[rustfmt::skip]
type Raw = unsafe extern "C" fn(
    usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize,
) -> u32;

/// Bytes that calls read and write, between pages that nobody may touch.
const ARENA: usize = 1 << 20;

struct Fuzzer {
    calls: Vec<(Call, Raw)>,
    error_name: Raw,
    arena: usize,
    texts: Vec<CString>,
    images: Vec<CString>,
    /// Calls are printed before they are made: `FUZZ_TRACE` is set.
    trace: bool,
}

extern "C" fn host_function(_: *mut c_void) {}

impl Fuzzer {
    fn new() -> Result<Self, Box<dyn Error>> {
        let find = driver::load()?;
        // SAFETY: functions of the driver take integers and pointers only, and ignore arguments that they have not.
        let raw = |name: &str| find(name).map(|at| unsafe { std::mem::transmute::<*mut c_void, Raw>(at) });
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../emulator/driver/src/api");
        let calls: Vec<_> = calls(Path::new(folder))?
            .into_iter()
            .filter_map(|call| Some((raw(&call.name)?, call)))
            .map(|(at, call)| (call, at))
            .collect();
        if calls.len() < 300 {
            return Err(format!("only {} calls were found", calls.len()).into());
        }
        let page = 4096;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping, of which the middle is opened.
        let arena = unsafe {
            let start = libc::mmap(std::ptr::null_mut(), ARENA + 2 * page, libc::PROT_NONE, flags, -1, 0);
            let inside = start.byte_add(page);
            if start == libc::MAP_FAILED || libc::mprotect(inside, ARENA, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return Err("no memory".into());
            }
            inside as usize
        };
        let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let long = "x".repeat(5000);
        #[rustfmt::skip]
        let texts = [
            "fill", "spin", "nothing", "shared", "trap", "variable", "constant", "", "cuInit", "cuMemAlloc",
            &long, "/dev/null",
        ];
        let images = [PTX, ".version 8.0\n.target sm_80\n.entry k() { bogus; }", "", "\u{7f}ELF", &long];
        Ok(Self {
            calls,
            error_name: raw("cuGetErrorName").ok_or("no cuGetErrorName")?,
            arena,
            texts: texts.into_iter().map(text).collect::<Result<_, _>>()?,
            images: images.into_iter().map(text).collect::<Result<_, _>>()?,
            trace: std::env::var_os("FUZZ_TRACE").is_some(),
        })
    }

    fn call(&self, at: Raw, arguments: &[usize]) -> u32 {
        let a: [usize; 14] = std::array::from_fn(|i| arguments.get(i).copied().unwrap_or(0));
        // SAFETY: pointers are null or lead into the arena, which has room behind each of them.
        unsafe { at(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]) }
    }

    fn named(&self, name: &str, arguments: &[usize]) -> u32 {
        let found = self.calls.iter().find(|(call, _)| call.name == name);
        found.map_or(1, |(_, at)| self.call(*at, arguments))
    }

    fn set(&self, offset: usize, words: &[u64]) {
        for (i, word) in words.iter().enumerate() {
            // SAFETY: callers stay in the first half of the arena.
            unsafe { ((self.arena + offset) as *mut u64).add(i).write_volatile(*word) };
        }
    }

    fn get(&self, offset: usize) -> u64 {
        // SAFETY: callers stay in the first half of the arena.
        unsafe { ((self.arena + offset) as *const u64).read_volatile() }
    }

    fn run(&self, seed: u64) -> Result<String, String> {
        let mut pool =
            Pool { rng: ChaCha8Rng::seed_from_u64(seed), values: vec![0, 1, 2], host: Vec::new(), arena: self.arena };
        self.named("cuInit", &[0]);
        self.named("cuCtxCreate_v2", &[self.arena, 0, 0]);
        pool.values.push(self.get(0));
        self.named("cuModuleLoadData", &[self.arena, self.images[0].as_ptr() as usize]);
        let module = self.get(0);
        pool.values.push(module);
        for name in &self.texts[..5] {
            self.named("cuModuleGetFunction", &[self.arena, module as usize, name.as_ptr() as usize]);
            pool.values.push(self.get(0));
        }
        for _ in 0..4 {
            self.named("cuMemAlloc_v2", &[self.arena, 4096]);
            pool.values.push(self.get(0));
        }
        let mut n_good = 0;
        for _ in 0..CALLS {
            let (call, at) = &self.calls[pool.rng.random_range(0..self.calls.len())];
            // What is written to the first word may be a handle.
            self.set(0, &[0; 4]);
            let followed = call
                .arguments
                .iter()
                .any(|kind| matches!(kind, Kind::Memory | Kind::Pointers | Kind::Structure | Kind::Image));
            // Addresses of host memory, or sizes beyond it: both together would be this program's own mistake.
            let followed = followed || pool.rng.random_range(0..2u32) == 0;
            let mut first = true;
            let mut arguments: Vec<usize> = call
                .arguments
                .iter()
                .enumerate()
                .map(|(i, kind)| self.argument(&mut pool, *kind, followed, i, &mut first))
                .collect();
            let pointer = |kind: &Kind| matches!(kind, Kind::Memory | Kind::Address);
            if LOOK_UP.contains(&call.name.as_str())
                && let Some(address) = pool.host_address()
                && let Some(last) = call.arguments.iter().rposition(pointer)
            {
                arguments[last] = address;
            }
            if self.trace {
                eprintln!("{} {arguments:x?}", call.name);
            }
            let code = self.call(*at, &arguments);
            let known = self.call(self.error_name, &[code as usize, self.arena + ARENA / 2]) == 0;
            if code == 999 || !known {
                return Err(format!("{} returned {code}, with {:x?}: {arguments:x?}", call.name, call.arguments.len()));
            }
            if code == 0 {
                n_good += 1;
                let result = self.get(0);
                if result > 16 {
                    pool.keep(result);
                }
            }
        }
        // The next sequence begins with a clean stack of contexts.
        for _ in 0..CALLS {
            if self.named("cuCtxPopCurrent_v2", &[self.arena]) != 0 {
                break;
            }
            self.named("cuCtxDestroy_v2", &[self.get(0) as usize]);
        }
        self.named("cuDevicePrimaryCtxReset_v2", &[0]);
        Ok("call ".repeat(CALLS as usize) + &"good ".repeat(n_good))
    }

    fn argument(&self, pool: &mut Pool, kind: Kind, followed: bool, i: usize, first: &mut bool) -> usize {
        // Each argument has a place of its own, with half of the arena behind it.
        let offset = 0x1000 * (i + 1) + 8 * pool.rng.random_range(0..2usize);
        let null = pool.rng.random_range(0..12u32) == 0;
        match kind {
            Kind::Null => 0,
            Kind::Memory | Kind::Pointers | Kind::Structure | Kind::Launch | Kind::Image if null => 0,
            Kind::Memory => {
                if std::mem::take(first) {
                    return self.arena;
                }
                let word = pool.small();
                self.set(offset, &[word]);
                self.arena + offset
            }
            Kind::Pointers => {
                let words: Vec<u64> = (0..64).map(|i| (self.arena + 0x20000 + 64 * i) as u64).collect();
                self.set(offset, &words);
                for i in 0..64 {
                    let value = pool.any();
                    self.set(0x20000 + 64 * i, &[value]);
                }
                self.arena + offset
            }
            Kind::Structure => {
                let words: Vec<u64> = (0..64).map(|_| pool.field()).collect();
                self.set(offset, &words);
                self.arena + offset
            }
            Kind::Launch => {
                let mut pairs = || (pool.small() % 5) | ((pool.small() % 70) << 32);
                let words = [pairs(), pairs(), pairs(), pairs() & 0xffff_ffff, 0, 0, 0, 0];
                self.set(offset, &words);
                self.arena + offset
            }
            Kind::Text => match pool.rng.random_range(0..self.texts.len() + 1) {
                0 => 0,
                n => self.texts[n - 1].as_ptr() as usize,
            },
            Kind::Image => self.images[pool.rng.random_range(0..self.images.len())].as_ptr() as usize,
            Kind::Handle => pool.any() as usize,
            Kind::Address => match pool.rng.random_range(0..4u32) {
                0 if followed => self.arena + 0x30000 + pool.rng.random_range(0..4096usize),
                _ => pool.any() as usize,
            },
            // More than the caller's memory holds is the caller's mistake; far more is found out.
            Kind::Count if followed => match pool.rng.random_range(0..8u32) {
                0 => 0,
                _ => pool.rng.random_range(0..64usize),
            },
            Kind::Count | Kind::Number => pool.number() as usize,
            Kind::Function => match pool.rng.random_range(0..2u32) {
                0 => 0,
                _ => host_function as *const () as usize,
            },
        }
    }
}

struct Pool {
    rng: ChaCha8Rng,
    /// Handles, device addresses, small numbers.
    values: Vec<u64>,
    host: Vec<u64>,
    arena: usize,
}

impl Pool {
    fn any(&mut self) -> u64 {
        let value = self.values[self.rng.random_range(0..self.values.len())];
        match self.rng.random_range(0..10u32) {
            0 => self.rng.random(),
            1 => [0, 1, 2, 3, u64::MAX, 1 << 63, 0x7fff_0000_0000, 1 << 48][self.rng.random_range(0..8usize)],
            2 => value.wrapping_add(self.rng.random_range(0..64)),
            _ => value,
        }
    }

    fn small(&mut self) -> u64 {
        self.rng.random_range(0..256)
    }

    /// A size or a number of some kind.
    fn number(&mut self) -> u64 {
        match self.rng.random_range(0..8u32) {
            0 => self.any(),
            1 => 1 << self.rng.random_range(0..64u32),
            2 => 0,
            3 => u64::MAX - self.small(),
            _ => self.small(),
        }
    }

    /// A word of a structure: an address or handle, a small number, or one so large that nothing is there.
    fn field(&mut self) -> u64 {
        match self.rng.random_range(0..8u32) {
            0 => self.any(),
            1 => (self.arena + 0x40000) as u64 + self.small(),
            2 => u64::MAX - self.small(),
            3 => 1 << self.rng.random_range(42..64u32),
            4 => self.rng.random_range(0..8) | self.rng.random_range(0..8) << 32,
            _ => self.rng.random_range(0..16),
        }
    }

    /// A host address that a call returned, now and then.
    fn host_address(&mut self) -> Option<usize> {
        if self.host.is_empty() || self.rng.random_range(0..2u32) == 0 {
            return None;
        }
        Some(self.host[self.rng.random_range(0..self.host.len())] as usize)
    }

    fn keep(&mut self, value: u64) {
        let values = match value {
            LAST_HANDLE..FIRST_DEVICE_ADDRESS => &mut self.host,
            _ => &mut self.values,
        };
        if values.len() < 64 {
            values.push(value);
        } else {
            let at = self.rng.random_range(0..64usize);
            values[at] = value;
        }
    }
}

/// Settings with which a seed takes little time.
const SETTINGS: [(&str, &str); 4] =
    [("TILE_MEMORY", "64"), ("TILE_BUDGET", "100000"), ("TILE_DIAGNOSIS", "0"), ("TILE_THREADS", "2")];

/// Runs one seed, in a folder for what `cuGraphDebugDotPrint` writes to files of any name.
fn run_in_folder(fuzzer: &mut Option<Fuzzer>, seed: u64) -> Result<String, String> {
    if fuzzer.is_none() {
        *fuzzer = Some(Fuzzer::new().map_err(|error| error.to_string())?);
        let folder = std::env::temp_dir().join("fuzz_calls");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        std::env::set_current_dir(&folder).map_err(|error| error.to_string())?;
    }
    fuzzer.as_ref().map_or(Ok(String::new()), |fuzzer| fuzzer.run(seed))
}

fn main() -> ExitCode {
    let mut fuzzer = None;
    fuzz::main(&SETTINGS, move |seed| run_in_folder(&mut fuzzer, seed))
}

#[test]
fn random_calls_do_no_harm() {
    const CHILD: &str = "FUZZ_CALLS_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let mut fuzzer = None;
        (0..50).for_each(|seed| drop(run_in_folder(&mut fuzzer, seed).expect("known codes")));
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().expect("a path"));
    child.args(["--exact", "fuzz_calls::random_calls_do_no_harm"]).envs(SETTINGS).env(CHILD, "1");
    let output = child.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
