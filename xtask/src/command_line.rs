//! The commands in groups, from clap's declarations: for the help, and for the table in CONTRIBUTING.md.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Arg, Command, CommandFactory as _, Subcommand as _};

use crate::Cli;
use crate::commands::{learn, maintain, measure, teach};

/// A heading, and the commands under it.
type Group = (&'static str, fn(Command) -> Command);

/// All commands but hidden ones, those of a learner first.
const GROUPS: [Group; 4] = [
    ("Commands", learn::Command::augment_subcommands),
    ("For a class", teach::Command::augment_subcommands),
    ("Measuring", measure::Command::augment_subcommands),
    ("Keeping the repository", maintain::Command::augment_subcommands),
];

/// The whole command line, with a help that shows the groups: clap has headings for options alone.
pub(crate) fn declared() -> Command {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, group) in GROUPS {
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for command in group(Command::new("")).get_subcommands() {
            let (name, about) = (command.get_name(), about(command));
            let _ = writeln!(template, "  {literal}{name:<10}{literal:#} {about}");
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    Cli::command().help_template(template)
}

/// The table of all commands with their options.
pub(crate) fn table() -> String {
    let mut out = String::from(
        "| command | what |\n| --- | --- |\n| `cargo xtask` | where you are, and what to do next |\n",
    );
    for (title, group) in GROUPS {
        let _ = writeln!(out, "| **{title}** | |");
        for command in group(Command::new("")).get_subcommands() {
            let long = command.get_long_about().map(|text| text.to_string().replace("\n\n", ". "));
            let mut what = long.unwrap_or_else(|| about(command));
            let mut usage = format!("cargo xtask {}", command.get_name());
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let _ = write!(usage, " {}", shown(arg));
                if arg.is_trailing_var_arg_set() {
                    let _ = write!(what, ": {}", arg.get_help().map(ToString::to_string).unwrap_or_default());
                }
            }
            let _ = writeln!(out, "| `{}` | {what} |", usage.replace('|', "\\|"));
        }
    }
    out
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// An argument as a usage has it: `STEP…`, `[--size SIZE,…]`, `--out DIR`.
fn shown(arg: &Arg) -> String {
    let name = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map_or_else(|| arg.get_id().as_str().to_uppercase(), ToString::to_string);
    let is_list = arg.get_num_args().is_some_and(|number| number.max_values() > 1)
        || matches!(arg.get_action(), clap::ArgAction::Append);
    let several = match arg.get_value_delimiter() {
        Some(delimiter) => format!("{delimiter}…"),
        None if is_list => "…".into(),
        None => String::new(),
    };
    let text = match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} {name}{several}"),
        Some(long) => format!("--{long}"),
        None => format!("{name}{several}"),
    };
    match arg.is_required_set() {
        true => text,
        false => format!("[{text}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_and_the_table_have_every_command() {
        let help = declared().render_help().to_string();
        let table = table();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let (name, about) = (command.get_name(), about(command));
            let line = format!("  {name:<10} {about}");
            assert_eq!(help.lines().filter(|shown| *shown == line).count(), 1, "{name}: {help}");
            assert!(table.contains(&format!("| `cargo xtask {name}")), "{name}: {table}");
        }
        assert!(help.contains("\n  -h, --help ") && help.contains("Exit codes: 0 passed"), "{help}");
    }

    #[test]
    fn declarations_hold_together() {
        declared().debug_assert();
    }
}
