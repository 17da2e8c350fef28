//! `cargo xtask book`: starts `bookbuild`, which links mdBook; this program does not, so that it is built in seconds.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask_support::output::{self, Stop};
use xtask_support::{CommandOutcome, interrupt, paths};

/// Command line of `book`: bookbuild explains it.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// --open, --watch, --check, --refresh, --browser …; more with --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::checkout().context("the book is built in a checkout, and this folder is not one")?;
    let cargo = paths::cargo().context("bookbuild is built by Cargo; start this with: cargo xtask book")?;
    let beside =
        paths::program_folder().map(|folder| folder.join("bookbuild").with_extension(std::env::consts::EXE_EXTENSION));
    if !beside.is_some_and(|program| program.is_file()) {
        output::note("building bookbuild, with mdBook in it; the first time takes about a minute");
    }
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--package", "bookbuild", "--"]);
    command.args(&args.options).current_dir(root);
    let status = interrupt::wait_for(&mut command.spawn().context("starting cargo")?)?;
    interrupt::check("the book is as it was built last")?;
    match status.code() {
        Some(0) => Ok(CommandOutcome::Passed),
        Some(1) => Ok(CommandOutcome::Failed),
        Some(2) => Err(Stop::Usage("see what it says above, and: cargo xtask book --help".into()).into()),
        _ => bail!("bookbuild failed; see its output above"),
    }
}
