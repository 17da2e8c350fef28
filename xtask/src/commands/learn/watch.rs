//! `cargo xtask watch`: checks a copy again whenever it is saved.
//!
//! The text is read every 300 ms and compared by its hash: that works on every file system, and for editors that write
//! a new file in place of the old one.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use catalog::files::{MAX_TEXT_BYTES, read_limited};
use catalog::{provenance::sha256, text::Paint};
use tasks::Task;
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Stop};
use xtask_support::{interrupt, paths, source};

use crate::{commands::learn::judging, learner};

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask watch v05\n\nStop it with Ctrl-C.")]
pub(crate) struct Args {
    /// Task: `v05` or `v05.wide`
    task: String,
    #[command(flatten)]
    with: learner::With,
    /// Print one JSON record per check
    #[arg(long)]
    json: bool,
}

/// Interval between looks at a file, and time for which it must stand still before it is checked.
const PAUSE: Duration = Duration::from_millis(300);
/// Clears the screen, and not what was scrolled out of it.
const CLEAR: &str = "\x1b[H\x1b[2J";

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::task(&root, &args.task)?;
    let path = learner::existing_copy(&root, &task)?;
    let shown = paths::from_root(&root, &path);
    interrupt::watch();
    let watching = format!("watching {shown}; Ctrl-C ends it");
    output::note(&watching);
    let redraws = std::io::stdout().is_terminal() && !args.json;
    let (mut checked, mut n_checks, mut is_gone) = (None, 0_u32, false);
    loop {
        if interrupt::happened() {
            let n = match n_checks {
                1 => "1 check".to_owned(),
                n => format!("{n} checks"),
            };
            bail!(Stop::Interrupted(format!("{n} of {shown}")));
        }
        match state(&root, &path) {
            None if !is_gone => {
                output::note(&format!("{shown} is gone; waiting for it"));
                is_gone = true;
            }
            None => {}
            state if state == checked => is_gone = false,
            state => {
                is_gone = false;
                // Somebody may still be writing.
                let first = checked.is_none();
                if !first {
                    std::thread::sleep(PAUSE);
                }
                if first || self::state(&root, &path) == state {
                    checked = state;
                    check(args, &root, &task, redraws, n_checks)?;
                    if redraws {
                        output::note(&watching);
                    }
                    n_checks += 1;
                    continue;
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns a hash of the copy and of what it includes; none when it cannot be read.
fn state(root: &Path, path: &Path) -> Option<String> {
    // A pipe would be waited for.
    let bytes = path.is_file().then(|| read_limited(path, MAX_TEXT_BYTES).ok())??;
    let source = String::from_utf8_lossy(&bytes);
    let includes = source::local_includes(root, path, &source).unwrap_or_default();
    let mut all = sha256(&bytes);
    all.extend(includes.iter().map(|include| sha256(&std::fs::read(&include.path).unwrap_or_default())));
    Some(all)
}

/// Checks once. An error that prevents the check does not end the watch.
fn check(args: &Args, root: &Path, task: &Task, redraws: bool, n_checks: u32) -> Result<()> {
    let verdict = match judging::judge(root, task, args.with) {
        Ok(verdict) => verdict,
        Err(error) if error.downcast_ref::<Stop>().is_some() => return Err(error),
        Err(error) => {
            output::error(&format!("{error:#}"));
            return Ok(());
        }
    };
    judging::record(root, task, &verdict);
    if args.json {
        return output::print(&format!("{}\n", serde_json::json!({"verdict": verdict})));
    }
    let before = match (redraws, n_checks) {
        (true, _) => CLEAR,
        (false, 0) => "",
        (false, _) => "\n",
    };
    let text = judging::text(root, task, &verdict, Paint::for_stdout());
    output::print(&format!("{before}{text}\n{}\n", judging::next(root, task, &verdict)))
}
