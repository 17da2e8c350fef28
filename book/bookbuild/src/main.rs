//! The program behind `cargo xtask book`; `bookbuild preprocess` is a preprocessor for a separately installed mdBook.

#![forbid(unsafe_code)]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "this is where bookbuild speaks")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use catalog::process::Exit;

use anyhow::{Context as _, Result};
use bookbuild::browser::{Browsed, browse};
use bookbuild::{BookPreprocessor, Problems, RepoPaths};
use bookbuild::{generated_files::Outputs, make::Options};
use clap::{Parser, Subcommand};
use mdbook_preprocessor::Preprocessor as _;

/// Build the book, check it, or keep it up to date while you write
#[derive(Parser)]
#[command(name = "bookbuild", bin_name = "cargo xtask book")]
struct Cli {
    #[command(subcommand)]
    command: Option<Job>,
    /// Open the book in a browser
    #[arg(long)]
    open: bool,
    /// Build the book again when a file changes; its pages need no server: open them from the disk, and reload them
    #[arg(long)]
    watch: bool,
    /// Check the book for stale files, numbers typed by hand, and broken links
    #[arg(long, conflicts_with_all = ["watch", "refresh"])]
    check: bool,
    /// Load every page in a headless Chromium, as wide as a phone and as a desktop
    #[arg(long, conflicts_with = "watch")]
    browser: bool,
    /// Save screenshots of the pages in this folder
    #[arg(long, value_name = "FOLDER", requires = "browser")]
    shots: Option<PathBuf>,
    /// Fail, instead of printing a note, when axe-core cannot be fetched
    #[arg(long, requires = "browser")]
    require_axe: bool,
    /// Make all outputs and pictures again, or only those of these names
    #[arg(long, num_args = 0.., value_name = "OUTPUT")]
    refresh: Option<Vec<String>>,
    /// Show what is missing in the pages, instead of stopping
    #[arg(long, conflicts_with = "check")]
    draft: bool,
}

#[derive(Subcommand)]
enum Job {
    /// Speak mdBook's protocol: the book on standard input, filled in on standard output
    #[command(hide = true)]
    Preprocess {
        #[command(subcommand)]
        question: Option<Question>,
    },
}

#[derive(Subcommand)]
enum Question {
    /// Return whether this works for a renderer
    Supports { renderer: String },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Job::Preprocess { question: Some(Question::Supports { renderer }) }) => {
            return ExitCode::from(u8::from(renderer != "html"));
        }
        Some(Job::Preprocess { question: None }) => preprocess(),
        None => run(&cli),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<Problems>() {
            Some(problems) => {
                eprintln!("{problems}");
                Exit::Failed.into()
            }
            None => {
                eprintln!("error: {error:#}");
                Exit::CouldNot.into()
            }
        },
    }
}

fn run(cli: &Cli) -> Result<()> {
    let repo = RepoPaths::new(repository());
    if let Some(only) = &cli.refresh {
        Outputs::load(&repo)?.refresh(&repo, only)?;
    }
    let options = Options { draft: cli.draft, ..Options::default() };
    if cli.watch {
        let mut is_first = true;
        return bookbuild::watch(&repo, &options, |page| {
            println!("{}", page.display());
            if cli.open && std::mem::take(&mut is_first) { open(&page.display().to_string()) } else { Ok(()) }
        });
    }
    let made =
        if cli.check { bookbuild::check(&repo, |line| println!("{line}"))? } else { bookbuild::make(&repo, &options)? };
    for problem in &made.findings.problems {
        eprintln!("draft: {problem}");
    }
    if cli.browser {
        let (browsed, problems) = browse(&made.folder, cli.shots.as_deref())?;
        match browsed {
            Browsed::Pages(n, why) => {
                println!("browser: {n} pages, on a phone and on a desk");
                if let Some(why) = why {
                    println!("axe-core: NOT RUN: {why}");
                    anyhow::ensure!(!cli.require_axe, "axe-core is not available: {why}");
                }
            }
            Browsed::NotRun => println!("browser: not run: no chromium (Debian: apt-get install chromium)"),
        }
        if !problems.is_empty() {
            return Err(Problems(problems).into());
        }
    }
    let page = made.folder.join("index.html");
    println!("{}", page.display());
    if cli.open { open(&page.display().to_string()) } else { Ok(()) }
}

/// Reads the book as JSON from standard input, and writes it filled in to standard output.
fn preprocess() -> Result<()> {
    let (context, book) = mdbook_preprocessor::parse_input(std::io::stdin().lock())?;
    let root = context.root.parent().context("book.toml lies in no folder")?;
    let book = BookPreprocessor::new(RepoPaths::new(root), false).run(&context, book)?;
    serde_json::to_writer(std::io::stdout().lock(), &book)?;
    Ok(())
}

/// Returns the repository's root: the folder above this crate, or above the current folder, that has
/// `book/book.toml`.
fn repository() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = || std::env::current_dir().unwrap_or_default();
    let start = manifest.unwrap_or_else(here);
    let is_root = |folder: &&Path| folder.join("book/book.toml").is_file();
    start.ancestors().find(is_root).unwrap_or(&start).to_path_buf()
}

fn open(what: &str) -> Result<()> {
    let (program, args): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let status = Command::new(program).args(args).arg(what).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("no browser could be started with `{program}`; open it yourself: {what}");
    }
    Ok(())
}
