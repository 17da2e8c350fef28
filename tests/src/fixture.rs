//! Kernels whose `.cu` says at its top how they are launched, and what the checks say of them.
//!
//! `tests/fixtures/diagnosed/README.md` describes the lines. Nothing here knows what ought to be found.

use std::sync::Arc;

use diagnostics::Finding;
use program::DecodedKernel;
use simt::gpu::{Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions, Names, check};
use simt::memory::{Memory, Origin};
use tasks::fixtures::{self, Fixture};

use crate::gpu::{options, texts};
use crate::root;

#[derive(Debug, Default)]
pub struct Head {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// Thread-instructions after which the launch is stopped.
    pub budget: u64,
    pub args: Vec<(String, Vec<String>)>,
    pub expect: Vec<String>,
    /// Elements of arguments after the launch: name, index, value.
    pub gives: Vec<(String, u64, String)>,
}

/// Returns the lines `// key: value` at the top of a `.cu`, below its title.
pub(crate) fn key_lines<'a>(fixture: &'a Fixture, known: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    let mut above = ".";
    for line in fixture.source.lines().map_while(|line| line.strip_prefix("//")).map(str::trim) {
        let pair = line.split_once(':').map(|(key, value)| (key, value.trim()));
        // The title of an included file that is part of the text.
        if !found.is_empty() && pair.is_some_and(|(key, _)| key.ends_with(".cuh") || key.ends_with(".cu")) {
            break;
        }
        let pair = pair.filter(|(key, _)| key.bytes().all(|byte| byte.is_ascii_lowercase()));
        match pair {
            Some((key, value)) if known.contains(&key) => found.push((key, value)),
            // The title is prose, whose second line may start with a word and a colon.
            None if found.is_empty() => {}
            Some(_) if found.is_empty() && !above.ends_with('.') => {}
            _ => panic!("{}: unknown line `// {line}`", fixture.path.display()),
        }
        above = line;
    }
    found
}

fn head(fixture: &Fixture) -> Head {
    const KEYS: [&str; 8] = ["arch", "arg", "block", "budget", "expect", "gives", "grid", "shared"];
    let mut head = Head { grid: [1; 3], block: [1; 3], ..Head::default() };
    for (key, value) in key_lines(fixture, &KEYS) {
        let wrong = || -> ! { panic!("{}: wrong line `// {key}: {value}`", fixture.path.display()) };
        let words: Vec<&str> = value.split_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().unwrap_or_else(|_| wrong());
        let triple = || {
            let at = |i: usize| words.get(i).map_or(1, |word| number(word) as u32);
            [at(0), at(1), at(2)]
        };
        match (key, &words[..]) {
            ("grid", [_, ..]) => head.grid = triple(),
            ("block", [_, ..]) => head.block = triple(),
            ("shared", [bytes]) => head.shared = number(bytes) as u32,
            ("budget", [instructions]) => head.budget = number(instructions),
            ("arg", [name, description @ ..]) => {
                let description = description.iter().map(|&word| word.to_owned()).collect();
                head.args.push(((*name).to_owned(), description));
            }
            ("gives", [name, index, value]) => {
                head.gives.push(((*name).to_owned(), number(index), (*value).to_owned()));
            }
            ("expect", codes) => head.expect = codes.iter().map(|&word| word.to_owned()).collect(),
            // For the compiler.
            ("arch", _) => {}
            _ => wrong(),
        }
    }
    head
}

/// Makes the bytes of an argument from its description; `None` if it is not a description.
fn argument(memory: &Memory, description: &[String]) -> Option<Vec<u8>> {
    let description: Vec<&str> = description.iter().map(String::as_str).collect();
    let (kind, fill) = match description[..] {
        ["null"] => return Some(0u64.to_le_bytes().to_vec()),
        ["i32", value] => return Some(value.parse::<i32>().ok()?.to_le_bytes().to_vec()),
        ["f32", value] => return Some(value.parse::<f32>().ok()?.to_le_bytes().to_vec()),
        [kind, fill] => (kind, fill),
        _ => return None,
    };
    let (ty, n) = kind.strip_suffix(']')?.split_once('[')?;
    let n: u32 = n.parse().ok()?;
    let (n_filled, value): (u32, fn(u32, u32) -> u32) = match fill {
        "empty" => (0, |i, _| i),
        "half" => (n / 2, |i, _| i),
        "mod4" => (n, |i, _| i % 4),
        "down" => (n, |i, n| n - 1 - i),
        "zero" => (n, |_, _| 0),
        "one" => (n, |_, _| 1),
        "filled" | "freed" => (n, |i, _| i),
        _ => return None,
    };
    let values = (0..n_filled).map(|i| value(i, n));
    let bytes: Vec<u8> = match ty {
        "f32" => values.flat_map(|value| ((value % 10) as f32).to_le_bytes()).collect(),
        "i32" => values.flat_map(u32::to_le_bytes).collect(),
        _ => return None,
    };
    let address = memory.alloc(u64::from(n) * 4, Origin::new("cuMemAlloc")).expect("there is room");
    memory.write(address, &bytes).expect("it is allocated");
    if fill == "freed" {
        memory.free(address).expect("it is allocated");
    }
    Some(address.to_le_bytes().to_vec())
}

#[derive(Debug)]
pub struct Ran {
    pub head: Head,
    /// Codes found; `E-LOAD` and `E-LAUNCH` for what did not run.
    pub codes: Vec<String>,
    pub findings: Vec<Finding>,
    pub text: String,
    pub wrong: Vec<String>,
}

/// Returns the kernels of a folder with their PTX, in the order of their names. `tests/it/ptx_fresh.rs` compares the
/// hashes.
pub fn folder(folder: &str) -> Vec<(Fixture, String)> {
    let mut compiled = fixtures::compiled(root(), folder).expect("its PTX is readable").into_iter();
    let found = fixtures::load(root(), folder).expect("its sources are readable");
    let with_ptx = found.into_iter().map(|one| {
        let ptx = compiled.find(|kernel| kernel.name == one.name).map(|kernel| kernel.ptx);
        let ptx = ptx.unwrap_or_else(|| panic!("{}: run `cargo xtask fixtures`", one.path.display()));
        (one, ptx)
    });
    with_ptx.collect()
}

/// Launches a kernel as its head says, with all checks; `with_source` tells whether the source text is available.
pub fn run((one, ptx): &(Fixture, String), threads: usize, with_source: bool) -> Ran {
    let (name, text) = (&one.name, &one.source);
    let folder = root().join(&one.path);
    let folder = folder.parent().expect("it lies in a folder");
    let head = head(one);
    let gpu = Gpu::with_memory(1 << 30);
    let module = match gpu.load(ptx) {
        Ok(module) => module,
        Err(refused) => return did_not_run(head, "E-LOAD", format!("{refused}\n")),
    };
    let loaded = module.kernels().first().expect("a kernel").clone();
    let mut params = Vec::new();
    for ((arg, description), param) in head.args.iter().zip(&loaded.kernel().params) {
        params.resize(param.offset as usize, 0);
        let bytes = argument(&gpu.memory, description);
        params.extend(
            bytes.unwrap_or_else(|| {
                panic!("{}: wrong line `// arg: {arg} {}`", one.path.display(), description.join(" "))
            }),
        );
    }
    params.resize(loaded.kernel().param_bytes as usize, 0);
    let mut sources: Vec<(String, Arc<str>)> = Vec::new();
    if with_source {
        for header in text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"')) {
            let text = std::fs::read_to_string(folder.join(header)).expect("the header is there");
            sources.push((header.to_owned(), text.into()));
        }
        sources.push((format!("{name}.cu"), Arc::from(text.as_str())));
    }
    let options = LaunchOptions {
        names: Names { sources, ..Names::default() },
        ..options(CheckLevel::CheckedWithGlobalRaces, head.budget, threads)
    };
    let shape = Geometry { grid: head.grid, block: head.block, dynamic_shared: head.shared };
    let request = shape.request(params, options);
    // What the driver does before a launch: nobody raised the limit of dynamic shared memory here.
    let allowed = check(loaded.kernel(), &request, None);
    match allowed.and_then(|()| gpu.launch(&loaded, &request)) {
        Err(refused) => did_not_run(head, "E-LAUNCH", diagnostics::refusal(loaded.kernel(), &request, &refused).text),
        Ok(report) => {
            let wrong = wrong(&gpu.memory, &head, loaded.kernel(), &request.params);
            let report = diagnostics::Report::new(report, &loaded, &request);
            // The host of a broken kernel copies everything back.
            let broken = name.ends_with("_broken") || folder.ends_with("unseen");
            let outputs = report.undefined_outputs.into_iter().map(|output| output.finding);
            let copied = outputs.filter(|_| broken);
            let findings: Vec<Finding> = report.findings.into_iter().chain(copied).collect();
            Ran {
                head,
                codes: findings.iter().map(|found| found.code.as_str().to_owned()).collect(),
                text: texts(&findings),
                findings,
                wrong,
            }
        }
    }
}

fn wrong(memory: &Memory, head: &Head, kernel: &DecodedKernel, params: &[u8]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, index, wanted) in &head.gives {
        let of_name = |(arg, _): &(String, Vec<String>)| arg == name;
        let at = head.args.iter().position(of_name).expect("an argument");
        let start = kernel.params[at].offset as usize;
        let address = u64::from_le_bytes(params[start..start + 8].try_into().expect("a pointer"));
        let mut bytes = [0; 4];
        memory.read(address + 4 * index, &mut bytes).expect("an element");
        let found = if head.args[at].1[0].starts_with("f32") {
            f32::from_le_bytes(bytes).to_string()
        } else {
            i32::from_le_bytes(bytes).to_string()
        };
        if found != *wanted {
            wrong.push(format!("{name}[{index}] is {found}, not {wanted}"));
        }
    }
    wrong
}

fn did_not_run(head: Head, code: &str, text: String) -> Ran {
    Ran { head, codes: vec![code.to_owned()], findings: Vec::new(), text, wrong: Vec::new() }
}
