//! `cargo run -p figures -- write`: draws the book's pictures.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

const USAGE: &str = "usage: cargo run -p figures -- write [--record FILE] [--to FOLDER]";

struct Args {
    record: PathBuf,
    to: PathBuf,
}

fn main() -> ExitCode {
    let Some(args) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match write(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Args> {
    let mut args = Args {
        record: figures::record_path(),
        to: figures::generated(),
    };
    if words.next()? != "write" {
        return None;
    }
    while let Some(word) = words.next() {
        match word.as_str() {
            "--record" => args.record = words.next()?.into(),
            "--to" => args.to = words.next()?.into(),
            _ => return None,
        }
    }
    Some(args)
}

fn write(args: &Args) -> anyhow::Result<()> {
    if args.record != figures::record_path() && !args.record.exists() {
        bail!("{}: no such file", args.record.display());
    }
    let record = figures::record(&args.record)?;
    if record.is_none() {
        eprintln!("{}: not there; plots say so", args.record.display());
    }
    std::fs::create_dir_all(&args.to).with_context(|| args.to.display().to_string())?;
    for figure in figures::all(record.as_ref())? {
        save(&args.to.join(figure.name).with_extension("svg"), &figure.svg)?;
    }
    Ok(())
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
