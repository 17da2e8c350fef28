//! `cargo xtask questions`: the questions of an assignment, with the numbers that are drawn for each student.

use anyhow::{Context, Result, anyhow, bail};
use catalog::files::read_text;
use catalog::text::{Paint, wrapped};
use tasks::TomlError;
use tasks::drawn::{self, DrawnTexts, key};
use xtask_support::{CommandOutcome, output};

use crate::learner;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask questions ada\n\n\
    For instructors, who hand them out on paper: several IDs print a sheet for each.")]
pub(crate) struct Args {
    /// Your id in the list of the class, or the name of your team
    #[arg(value_name = "ID", required = true)]
    students: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    const WIDTH: usize = 100;
    let path = learner::root()?.join(drawn::FILE);
    if !path.exists() {
        bail!("there is no {}: questions are drawn in repositories made by `cargo xtask assign`", drawn::FILE);
    }
    let text = read_text(&path).context(drawn::FILE)?;
    let texts: DrawnTexts =
        TomlError::read(&text).map_err(|error| anyhow!("{}:{}: {}", drawn::FILE, error.line, error.why))?;
    let mut out = String::new();
    for student in &args.students {
        for (name, text) in texts.of(student) {
            out.push_str(&format!("{}\n{}\n", Paint::for_stdout().bold(name), wrapped(text, "  ", WIDTH)));
        }
        out.push_str(&format!("next: answer the questions of {} in my/answers.toml\n", key(student)));
    }
    output::print(&out)?;
    Ok(CommandOutcome::Passed)
}
