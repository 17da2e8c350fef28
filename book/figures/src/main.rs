//! `cargo run -p figures -- write` draws the book's pictures; `… -- explorers` checks the rules that its pages run,
//! `… -- sass` prints machine code and tables of it, `… -- predictions` prints the errors of predicted times, `… --
//! busiest`, `… -- stalls` and `… -- climb` compare with Nsight Compute, and `… -- tensor STEP` prints its
//! measurements of tensor cores.

#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use catalog::process::Exit;
use figures::explorers::{Engine, cases, claim, folder, rules_js};

const USAGE: &str = "usage: cargo run -p figures -- write [--to FOLDER]
       cargo run -p figures -- explorers
       cargo run -p figures -- (predictions | busiest | stalls | climb | tensor STEP)
       cargo run -p figures -- sass (KERNEL FROM TO | loops | registers | strides | binds | v11)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["write"] => write(&figures::generated()),
        ["write", "--to", to] => write(Path::new(to)),
        ["explorers"] => explorers(),
        ["predictions"] => print(Ok(figures::errors_table())),
        ["busiest"] => print(figures::units_table()),
        ["stalls"] => print(figures::stalls_table()),
        ["climb"] => print(figures::climb_table()),
        ["tensor", step] => print(figures::tensor_table(step)),
        ["sass", ref words @ ..] => print(figures::sass_table(words)),
        _ => {
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

fn write(to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for figure in figures::all(&figures::record()?)? {
        save(&to.join(&figure.name).with_extension("svg"), &figure.svg)?;
    }
    for (name, text) in figures::steps_js()? {
        save(&to.join(name), &text)?;
    }
    Ok(())
}

fn print(text: anyhow::Result<String>) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text?.as_bytes()) {
        // The reader closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Checks the explorers' rules in every engine, and records the result.
fn explorers() -> anyhow::Result<()> {
    let (rules, cases) = (rules_js()?, cases()?);
    let engines = Engine::here();
    ensure!(!engines.is_empty(), "nothing here runs JavaScript; install node or chromium");
    let scratch = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
    for engine in engines {
        let n = engine.run(&rules, &cases, &scratch);
        let n = n.with_context(|| format!("{engine:?}, {}", folder().join("rules.js").display()))?;
        eprintln!("{engine:?}: {n} cases agree");
    }
    std::fs::remove_dir_all(&scratch)?;
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
