//! No source makes the compiler panic or take long, and what it compiles is PTX that exists.

use std::time::{Duration, Instant};

/// Damaged copies of each kernel.
const COPIES: u32 = 8;
/// Stack of the compiler: about that of a worker in a page.
const STACK: usize = 1 << 20;
/// Far more than any takes.
const LIMIT: Duration = Duration::from_secs(60);

fn kernels() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let files = std::fs::read_dir(folder).expect("kernels").flatten();
    let mut found: Vec<(String, String)> = files
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, std::fs::read_to_string(entry.path()).ok()?)))
        .filter(|(name, _)| name.starts_with("v0") && name.ends_with(".cu") || name == "common.cuh")
        .collect();
    found.sort();
    found
}

/// Splits a text into words, spaces and signs.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

type Compiled = Result<cuda::Compiled, (Vec<cuda::Message>, cuda::Sources)>;

fn in_time(name: &str, text: &str, headers: &[(String, String)]) -> Compiled {
    let start = Instant::now();
    let compile = || cuda::compile(&cuda::Input { name, text, headers });
    let compiled = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compile);
        thread.expect("a thread").join().unwrap_or_else(|_| panic!("a panic for\n{text:.1000}"))
    });
    assert!(start.elapsed() < LIMIT, "{:?} for\n{text:.1000}", start.elapsed());
    compiled
}

fn compile(name: &str, text: &str, headers: &[(String, String)]) -> bool {
    match in_time(name, text, headers) {
        Ok(compiled) => {
            let printed = compiled.module.to_string();
            let module = ptx::parse(&printed).unwrap_or_else(|error| panic!("{error} in PTX of\n{text}"));
            ptx::table::check(&module).unwrap_or_else(|error| panic!("{error:?} in PTX of\n{text}"));
            true
        }
        Err((messages, sources)) => {
            assert!(!messages.is_empty());
            for message in &messages {
                let _ = cuda::render::render(message, &sources);
            }
            false
        }
    }
}

#[test]
fn damaged_kernels_never_panic() {
    let all = kernels();
    let headers: Vec<(String, String)> = all.iter().filter(|(name, _)| name == "common.cuh").cloned().collect();
    let mut state = 1u32;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n.max(1)
    };
    let (mut compiled, mut refused) = (0, 0);
    for (name, text) in all.iter().filter(|(name, _)| name.ends_with(".cu")) {
        assert!(compile(name, text, &headers), "{name}");
        let original = pieces(text);
        for _ in 0..COPIES {
            let mut damaged = original.clone();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                match random(4) {
                    0 => {
                        damaged.remove(at);
                    }
                    1 => damaged.insert(at, original[random(original.len())]),
                    2 => damaged[at] = original[random(original.len())],
                    _ => {
                        let other = random(damaged.len());
                        damaged.swap(at, other);
                    }
                }
            }
            match compile(name, &damaged.concat(), &headers) {
                true => compiled += 1,
                false => refused += 1,
            }
        }
    }
    // Most damage is in comments.
    assert!(compiled > 20 && refused > 20, "{compiled} compiled, {refused} refused");
}

/// Files that are large, or become so.
const LARGE: &str = include_str!("hostile.txt");

#[test]
fn large_files_end_soon() {
    for text in LARGE.split("\n\n").skip(1) {
        let mut parts = text.split('@');
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        while let (Some(piece), Some(n), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
            let copy = |i: u32| piece.replace('%', &i.to_string()).replace('$', &(i + 1).to_string());
            expanded.extend((0..n.parse().expect("a number")).map(copy));
            expanded += rest;
        }
        let file = match expanded.strip_prefix(':') {
            Some(file) => file.to_owned(),
            None => format!("__global__ void k(int n, float* a, int* b) {{ int i = threadIdx.x;\n{expanded} }}"),
        };
        let _ = in_time("large.cu", &file, &[]);
    }
}
