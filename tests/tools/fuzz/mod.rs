//! What the fuzzers share: a child process that does the work, and a parent that sees how it ends.
//!
//! The parent starts the program again with a range of seeds. The child names each seed on standard output before it
//! begins with it; a child that dies, says that something is wrong, or takes too long for one seed is a finding, and
//! the seed that it named last brings it back.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::process::{Command, ExitCode};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use clap::Parser;

/// A child that spends so many seconds of processor time on one seed hangs in a loop. Not wall time alone: on a loaded
/// machine a child may get next to none.
const BUSY_SECONDS: i64 = 300;
/// A child that is at one seed for so many seconds waits for something that never comes.
const SECONDS: u32 = 900;
/// Seeds for one child.
const SEEDS: u64 = 200;

#[derive(Parser)]
struct Options {
    /// Time to run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// First seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of seeds of this process, if it is a child.
    #[arg(long, hide = true)]
    child: Option<u64>,
}

/// Runs `one` for seed after seed, in children with these variables in their environment, until the time is up.
pub(crate) fn main(variables: &[(&str, &str)], one: impl FnMut(u64) -> Result<String, String>) -> ExitCode {
    let options = Options::parse();
    let done = match options.child {
        Some(n) => child(options.seed..options.seed + n, Duration::from_secs(options.seconds), one),
        None => parent(&options, variables),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs these seeds, or those of them that it begins with in time, and at least one.
fn child(
    seeds: std::ops::Range<u64>, time: Duration, mut one: impl FnMut(u64) -> Result<String, String>,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    // Not `println!`: what the driver prints goes there as well.
    let mut out = std::io::stdout();
    for seed in seeds {
        writeln!(out, "\nseed {seed}")?;
        out.flush()?;
        end_in_time();
        let before = cpu_seconds();
        let outcome = one(seed)?;
        let spent = cpu_seconds() - before;
        writeln!(out, "\ndone {spent:.3} {outcome}")?;
        if start.elapsed() >= time {
            break;
        }
    }
    Ok(())
}

/// Has the system end this process when it does not come here again in time.
fn end_in_time() {
    let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let once = libc::itimerval { it_interval: zero, it_value: libc::timeval { tv_sec: BUSY_SECONDS, ..zero } };
    // SAFETY: it reads the interval.
    unsafe {
        libc::setitimer(libc::ITIMER_PROF, &once, null_mut());
        libc::alarm(SECONDS);
    }
}

pub(crate) fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn parent(options: &Options, variables: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut seed = options.seed;
    let mut tally = BTreeMap::<String, u64>::new();
    let mut slowest = (0.0, 0);
    while let left = options.seconds.saturating_sub(start.elapsed().as_secs())
        && left > 0
    {
        let child = Command::new(std::env::current_exe()?)
            .args(["--seed", &seed.to_string(), "--child", &SEEDS.to_string(), "--seconds", &left.to_string()])
            .envs(variables.iter().copied())
            .output()?;
        let mut at = seed;
        for line in String::from_utf8_lossy(&child.stdout).lines() {
            if let Some(number) = line.strip_prefix("seed ") {
                at = number.parse()?;
            } else if let Some((spent, outcome)) = line.strip_prefix("done ").and_then(|rest| rest.split_once(' ')) {
                let spent: f64 = spent.parse()?;
                if spent > slowest.0 {
                    slowest = (spent, at);
                }
                for word in outcome.split_whitespace() {
                    *tally.entry(word.to_owned()).or_default() += 1;
                }
            }
        }
        if !child.status.success() {
            // What it said last explains how it ended.
            let said = String::from_utf8_lossy(&child.stderr);
            let last: Vec<&str> = said.lines().collect();
            let last = last[last.len().saturating_sub(20)..].join("\n");
            return Err(format!("seed {at}: {}\n{last}", child.status).into());
        }
        seed = at + 1;
    }
    let seconds = start.elapsed().as_secs();
    let first = options.seed;
    eprintln!(
        "seeds {first}..{seed} in {seconds} s, the slowest {} with {:.1} s of processor time",
        slowest.1, slowest.0
    );
    for (what, n) in tally {
        eprintln!("{n:>9} {what}");
    }
    Ok(())
}
