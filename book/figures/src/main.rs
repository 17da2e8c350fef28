//! `cargo run -p figures -- write` draws the book's pictures; `… -- explorers` checks the rules that its pages run,
//! `… -- sass` prints machine code and tables of it, `… -- predictions` prints the errors of predicted times, `… --
//! busiest`, `… -- stalls` and `… -- climb` compare with Nsight Compute, and `… -- tensor STEP` prints its
//! measurements of tensor cores.

#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use catalog::process::Exit;

use anyhow::{Context as _, bail};
use figures::explorers::{Engine, cases, claim, folder, rules_js};

const USAGE: &str = "usage: cargo run -p figures -- write [--record FILE] [--to FOLDER]
       cargo run -p figures -- explorers
       cargo run -p figures -- (predictions | busiest | stalls | climb | tensor STEP)
       cargo run -p figures -- sass (KERNEL FROM TO | loops | registers | strides | binds | summit)";

enum Task {
    Write { record: PathBuf, to: PathBuf },
    Explorers,
    Print(fn() -> anyhow::Result<String>),
    Tensor(String),
    Sass(Vec<String>),
}

fn main() -> ExitCode {
    let result = match parse(std::env::args().skip(1)) {
        Some(Task::Write { record, to }) => write(&record, &to),
        Some(Task::Explorers) => explorers(),
        Some(Task::Print(table)) => table().and_then(|text| print(&text)),
        Some(Task::Tensor(step)) => figures::tensor_table(&step).and_then(|text| print(&text)),
        Some(Task::Sass(words)) => sass(&words),
        None => {
            eprintln!("{USAGE}");
            return Exit::Usage.into();
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            Exit::CouldNot.into()
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Task> {
    let mut record = figures::record_path();
    let mut to = figures::generated();
    match words.next()?.as_str() {
        "write" => {}
        "predictions" if words.next().is_none() => return Some(Task::Print(|| Ok(figures::errors_table()))),
        "busiest" if words.next().is_none() => return Some(Task::Print(figures::units_table)),
        "stalls" if words.next().is_none() => return Some(Task::Print(figures::stalls_table)),
        "climb" if words.next().is_none() => return Some(Task::Print(figures::climb_table)),
        "tensor" => {
            let step = words.next()?;
            return words.next().is_none().then_some(Task::Tensor(step));
        }
        "sass" => return Some(Task::Sass(words.collect())),
        "explorers" if words.next().is_none() => return Some(Task::Explorers),
        _ => return None,
    }
    while let Some(word) = words.next() {
        match word.as_str() {
            "--record" => record = words.next()?.into(),
            "--to" => to = words.next()?.into(),
            _ => return None,
        }
    }
    Some(Task::Write { record, to })
}

fn write(path: &Path, to: &Path) -> anyhow::Result<()> {
    if path != figures::record_path() && !path.exists() {
        bail!("{}: no such file", path.display());
    }
    let record = figures::record(path)?;
    if record.is_none() {
        eprintln!("{}: not there; plots say so", path.display());
    }
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for figure in figures::all(record.as_ref())? {
        save(&to.join(figure.name).with_extension("svg"), &figure.svg)?;
    }
    Ok(())
}

fn sass(words: &[String]) -> anyhow::Result<()> {
    let record = figures::record(&figures::record_path())?;
    print(&figures::sass_table(words, record.as_ref())?)
}

fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Checks the explorers' rules in every engine, and records the result.
fn explorers() -> anyhow::Result<()> {
    let (rules, cases) = (rules_js()?, cases()?);
    let engines = Engine::here();
    if engines.is_empty() {
        bail!("nothing here runs JavaScript; install node or chromium");
    }
    let scratch = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
    for engine in engines {
        let n = engine.run(&rules, &cases, &scratch);
        let n = n.with_context(|| format!("{engine:?}, {}", folder().join("rules.js").display()))?;
        eprintln!("{engine:?}: {n} cases agree");
    }
    std::fs::remove_dir_all(&scratch)?;
    save(&folder().join("steps.js"), &figures::steps_js()?)?;
    save(&folder().join("checked.js"), &claim(&rules, cases.len()))
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
