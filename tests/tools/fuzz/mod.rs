//! What the fuzzers of the driver share: a child process that does the work, and a parent that sees how it ends.
//!
//! The parent starts the program again with a range of seeds. The child names each seed on standard output before it
//! begins with it; a child that dies, says that something is wrong, or is silent for too long is a finding, and the
//! seed that it named last brings it back.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A child that is silent while it spends so much processor time on one seed hangs in a loop. Not wall time alone:
/// on a loaded machine a child may get next to none.
const BUSY_SILENCE: f64 = 300.0;
/// A child that is silent for so long waits for something that never comes.
const SILENCE: Duration = Duration::from_secs(900);
const LOOK: Duration = Duration::from_secs(10);
/// Seeds for one child.
const SEEDS: u64 = 200;

struct Options {
    seconds: u64,
    seed: u64,
    /// Number of seeds of this process, if it is a child.
    child: Option<u64>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options { seconds: 60, seed: 0, child: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{option} needs a number"))?.parse()?;
        match option.as_str() {
            "--seconds" => options.seconds = value,
            "--seed" => options.seed = value,
            "--child" => options.child = Some(value),
            _ => return Err(format!("unknown option {option}; there are --seconds and --seed").into()),
        }
    }
    Ok(options)
}

/// Runs `one` for seed after seed, in children with these variables in their environment, until the time is up.
pub(crate) fn main(variables: &[(&str, &str)], one: impl FnMut(u64) -> Result<String, String>) -> ExitCode {
    match options().and_then(|options| match options.child {
        Some(n) => child(options.seed, n, one),
        None => parent(&options, variables),
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn child(first: u64, n: u64, mut one: impl FnMut(u64) -> Result<String, String>) -> Result<(), Box<dyn Error>> {
    // Not `println!`: what the driver prints goes there as well.
    let mut out = std::io::stdout();
    for seed in first..first + n {
        writeln!(out, "\nseed {seed}")?;
        out.flush()?;
        let before = cpu_seconds();
        let outcome = one(seed)?;
        let spent = cpu_seconds() - before;
        writeln!(out, "\ndone {spent:.3} {outcome}")?;
    }
    Ok(())
}

pub(crate) fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Processor time of another process, where the system tells.
fn cpu_seconds_of(process: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold anything, in brackets: state is the first field, user and system time the
    // twelfth and thirteenth.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // SAFETY: it reads a number.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Some(ticks as f64 / per_second as f64)
}

fn parent(options: &Options, variables: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut seed = options.seed;
    let mut tally = std::collections::BTreeMap::<String, u64>::new();
    let mut slowest = (0.0, 0);
    while start.elapsed() < Duration::from_secs(options.seconds) {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--seed", &seed.to_string(), "--child", &SEEDS.to_string()])
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (say, hear) = channel();
        let reader = std::thread::spawn(move || {
            for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        // What it said last explains how it ended.
        let errors = std::thread::spawn(move || {
            let mut last = std::collections::VecDeque::new();
            for line in err.into_iter().flat_map(|err| BufReader::new(err).split(b'\n')).map_while(Result::ok) {
                if last.len() == 20 {
                    last.pop_front();
                }
                last.push_back(String::from_utf8_lossy(&line).into_owned());
            }
            last
        });
        let mut at = seed;
        let mut silent = false;
        let mut heard = (Instant::now(), 0.0);
        loop {
            match hear.recv_timeout(LOOK) {
                Ok(line) => {
                    heard = (Instant::now(), cpu_seconds_of(child.id()).unwrap_or(heard.1));
                    if let Some(number) = line.strip_prefix("seed ") {
                        at = number.parse()?;
                    } else if let Some((spent, outcome)) =
                        line.strip_prefix("done ").and_then(|rest| rest.split_once(' '))
                    {
                        let spent: f64 = spent.parse()?;
                        if spent > slowest.0 {
                            slowest = (spent, at);
                        }
                        for word in outcome.split_whitespace() {
                            *tally.entry(word.to_owned()).or_default() += 1;
                        }
                        if start.elapsed() >= Duration::from_secs(options.seconds) {
                            child.kill()?;
                            seed = at + 1;
                            break;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let busy = cpu_seconds_of(child.id()).unwrap_or(heard.1) - heard.1;
                    if busy > BUSY_SILENCE || heard.0.elapsed() > SILENCE {
                        silent = true;
                        child.kill()?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = child.wait()?;
        let over = start.elapsed() >= Duration::from_secs(options.seconds);
        let _ = reader.join();
        let last = errors.join().unwrap_or_default();
        if silent || (!status.success() && !over) {
            let how = if silent { "says nothing any more".to_owned() } else { status.to_string() };
            let last: Vec<String> = last.into();
            return Err(format!("seed {at}: {how}\n{}", last.join("\n")).into());
        }
        if !over {
            seed = at + 1;
        }
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

/// Loads the emulated driver and finds a call in it, by its name.
pub(crate) fn driver() -> Result<impl Fn(&str) -> Option<*mut std::ffi::c_void>, String> {
    let path = emulator_client::preload().map_err(|error| error.to_string())?;
    let path = std::ffi::CString::new(path.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: it is loaded already.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return Err("the driver cannot be opened again".to_owned());
    }
    Ok(move |name: &str| {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the library is never closed.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    })
}
