//! The gallery of mistakes: each broken kernel is told as what it is, and runs clean once repaired.
//!
//! `tests/data/gallery/README.md` says how the head of a `.cu` describes its launch. The whole message of each
//! broken kernel is a snapshot beside this file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use simt::launch::{Environment, LaunchConfig, LaunchOptions, Names, Watch, launch};
use simt::memory::{Memory, Origin};
use simt::module::Module;
use simt::texture::Textures;

/// How a `.cu` says that it is launched.
#[derive(Debug, Default)]
struct Head {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    budget: u64,
    args: Vec<(String, Vec<String>)>,
    expect: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gallery")
}

fn head(text: &str) -> Head {
    let mut head = Head {
        grid: [1; 3],
        block: [1; 3],
        ..Head::default()
    };
    for line in text.lines().map_while(|line| line.strip_prefix("//")) {
        let Some((key, value)) = line.trim().split_once(':') else {
            continue;
        };
        let words: Vec<&str> = value.split_whitespace().collect();
        let triple = || {
            let at = |i: usize| words.get(i).map_or(1, |word| word.parse().expect("a number"));
            [at(0), at(1), at(2)]
        };
        match key {
            "grid" => head.grid = triple(),
            "block" => head.block = triple(),
            "shared" => head.shared = words[0].parse().expect("bytes"),
            "budget" => head.budget = words[0].parse().expect("instructions"),
            "arg" => {
                let rest = words[1..].iter().map(|&word| word.to_owned()).collect();
                head.args.push((words[0].to_owned(), rest));
            }
            "expect" => head.expect = words.iter().map(|&word| word.to_owned()).collect(),
            _ => {}
        }
    }
    head
}

/// An argument's bytes.
fn argument(memory: &Memory, words: &[String]) -> Vec<u8> {
    let kind = words[0].as_str();
    if kind == "null" {
        return 0u64.to_le_bytes().to_vec();
    }
    let Some((ty, n)) = kind.split_once('[') else {
        return match kind {
            "i32" => words[1].parse::<i32>().expect("an int").to_le_bytes().to_vec(),
            "f32" => words[1].parse::<f32>().expect("a float").to_le_bytes().to_vec(),
            _ => panic!("argument of type {kind}"),
        };
    };
    let n: u32 = n.trim_end_matches(']').parse().expect("a length");
    let address = memory
        .alloc(u64::from(n) * 4, Origin::new("cuMemAlloc"))
        .expect("there is room");
    if words[1] != "empty" {
        let bytes: Vec<u8> = (0..n)
            .flat_map(|i| {
                if ty == "f32" {
                    ((i % 10) as f32).to_le_bytes()
                } else {
                    i.to_le_bytes()
                }
            })
            .collect();
        memory.write(address, &bytes).expect("it is allocated");
    }
    if words[1] == "freed" {
        memory.free(address).expect("it is allocated");
    }
    address.to_le_bytes().to_vec()
}

/// Codes found, and all messages.
fn run(name: &str, threads: usize) -> (Head, Vec<String>, String) {
    run_with(name, threads, true)
}

/// The same, with the source text at hand or not.
fn run_with(name: &str, threads: usize, with_source: bool) -> (Head, Vec<String>, String) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.cu"))).expect("the source is there");
    let ptx = std::fs::read_to_string(folder().join(format!("{name}.ptx"))).expect("its PTX is there");
    let head = head(&text);
    let memory = Arc::new(Memory::new(1 << 30));
    let module = Module::load(&memory, &ptx, None).unwrap_or_else(|error| panic!("{name}: {error}"));
    let loaded = module.kernels().first().expect("a kernel").clone();
    let mut params = Vec::new();
    for ((_, words), param) in head.args.iter().zip(&loaded.kernel().params) {
        params.resize(param.offset as usize, 0);
        params.extend(argument(&memory, words));
    }
    let mut sources: Vec<(String, Arc<str>)> = vec![(format!("{name}.cu"), Arc::from(text.as_str()))];
    if !with_source {
        sources.clear();
    }
    let config = LaunchConfig {
        grid: head.grid,
        block: head.block,
        dynamic_shared: head.shared,
        params,
        options: LaunchOptions {
            watch: Watch::CheckedGlobalRaces,
            budget: head.budget,
            threads,
            names: Names {
                params: Vec::new(),
                sources,
            },
            ..LaunchOptions::default()
        },
    };
    let textures = Textures::default();
    let environment = Environment {
        textures: &textures,
        clock: &|| 0,
    };
    // What the driver does before a launch: nobody raised the limit of dynamic shared memory here.
    let allowed = simt::launch::check(loaded.kernel(), &config, None);
    match allowed.and_then(|()| launch(&memory, &loaded, &config, environment)) {
        Err(refused) => (
            head,
            vec!["E-LAUNCH".into()],
            findings::refusal(loaded.kernel(), &config, &refused),
        ),
        Ok(report) => {
            let report = findings::Report::new(report, &loaded, &config);
            let codes = report
                .findings
                .iter()
                .map(|found| found.code.as_str().to_owned())
                .collect();
            let texts: Vec<&str> = report.findings.iter().map(|found| found.text.as_str()).collect();
            (head, codes, texts.join("\n"))
        }
    }
}

fn names(ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the gallery is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".cu")?.to_owned()))
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    names
}

#[test]
fn every_broken_kernel_is_told_as_what_it_is() {
    let names = names("_broken");
    assert!(names.len() >= 14);
    let mut wrong = Vec::new();
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/gallery");
    settings.set_prepend_module_to_snapshot(false);
    for name in names {
        let (head, codes, text) = run(&name, 1);
        if !head.expect.iter().all(|code| codes.contains(code)) {
            wrong.push(format!(
                "{name}: expected {:?}, found {codes:?}\n{text}",
                head.expect
            ));
        }
        let short = name.trim_end_matches("_broken").to_owned();
        settings.bind(|| insta::assert_snapshot!(short, text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages_are_useful_without_the_source() {
    let mut all = Vec::new();
    for name in [
        "misaligned_broken",
        "out_of_bounds_broken",
        "race_before_reading_broken",
        "race_write_write_broken",
        "uninitialised_shared_broken",
    ] {
        all.push(run_with(name, 1, false).2);
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("gallery_without_source", all.join("\n"));
    });
}

#[test]
fn every_repaired_kernel_runs_clean() {
    let mut wrong = Vec::new();
    for name in names("_fixed") {
        let (_, codes, text) = run(&name, 0);
        if !codes.is_empty() {
            wrong.push(format!("{name}:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages_do_not_depend_on_the_number_of_threads() {
    for name in names("_broken") {
        let (_, _, one) = run(&name, 1);
        let (_, _, four) = run(&name, 4);
        assert_eq!(one, four, "{name}");
    }
}
