//! Grades a class of generated submissions, and prints the time and the peak memory of all processes together.
//!
//! `cargo build --release -p xtask -p judge && cargo run -p grader --example class -- target/release/xtask 300`
//!
//! The texts of the submissions to v02 all differ, so that no verdict is shared: right ones, and kernels with one of
//! several mistakes.

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Edits of the finished kernel: text and replacement.
const MISTAKES: [(&str, &str); 5] = [
    ("", ""),
    ("__syncthreads();", ""),
    ("k0 += BLOCK", "k0 += 2 * BLOCK"),
    ("K, N, k0 +", "K, N, 1 + k0 +"),
    ("C[", "C[1 + "),
];

const RUBRIC: &str =
    "format = 1\ntitle = \"Made up\"\nseed = 7\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(xtask), Some(n)) = (arguments.next(), arguments.next()) else {
        return Err("usage: class XTASK N [JOBS]".into());
    };
    let (xtask, n) = (PathBuf::from(xtask).canonicalize()?, n.parse::<usize>()?);
    let jobs = arguments.next().unwrap_or_else(|| "2".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let finished = std::fs::read_to_string(root.join("kernels/v02_shared.cu"))?;
    let folder = std::env::temp_dir().join(format!("grader-class-{}", std::process::id()));
    for at in 0..n {
        let (from, to) = MISTAKES[at % MISTAKES.len()];
        let text = match from {
            "" => finished.clone(),
            from => finished.replace(from, to),
        };
        let my = folder.join(format!("submissions/student-{at:03}/my"));
        std::fs::create_dir_all(&my)?;
        std::fs::write(my.join("v02.cu"), format!("{text}// {at}\n"))?;
    }
    let rubric = folder.join("rubric.toml");
    std::fs::write(&rubric, RUBRIC)?;
    let start = Instant::now();
    let mut child = Command::new(xtask)
        .arg("grade")
        .arg(folder.join("submissions"))
        .arg("--rubric")
        .arg(rubric)
        .arg("--out")
        .arg(folder.join("out"))
        .args(["--jobs", &jobs])
        .current_dir(root)
        .spawn()?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(resident(child.id()));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    println!(
        "{n} submissions, {jobs} at a time: {:.1} s, {} MiB at most in all processes together, {status}",
        start.elapsed().as_secs_f64(),
        peak >> 20
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Returns the resident memory in bytes of a process and its descendants, from `/proc`.
fn resident(of: u32) -> u64 {
    const PAGE: u64 = 4096;
    let mut all: Vec<(u32, u32, u64)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let (stat, memory) = (read("stat"), read("statm"));
        // The name, in brackets, may contain anything.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        let pages: Option<u64> = memory.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        if let (Some(parent), Some(pages)) = (parent, pages) {
            all.push((id, parent, pages * PAGE));
        }
    }
    let mut family = vec![of];
    let mut at = 0;
    while at < family.len() {
        let parent = family[at];
        family.extend(
            all.iter()
                .filter(|(id, up, _)| *up == parent && !family.contains(id))
                .map(|(id, _, _)| *id)
                .collect::<Vec<_>>(),
        );
        at += 1;
    }
    all.iter().filter(|(id, _, _)| family.contains(id)).map(|(_, _, bytes)| bytes).sum()
}
