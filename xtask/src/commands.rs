//! One module per subcommand, with its arguments and its `run`, grouped by who uses them.

/// Defines the commands of a group, each with its help, its arguments and the function that runs it.
macro_rules! commands {
    ($($(#[$help:meta])* $name:ident($args:ty) => $run:path,)*) => {
        #[derive(clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[$help])* $name($args),)*
        }

        impl Command {
            pub(crate) fn run(&self) -> anyhow::Result<xtask_support::CommandOutcome> {
                match self {
                    $(Self::$name(args) => $run(args),)*
                }
            }
        }
    };
}

pub(crate) mod learn;
pub(crate) mod maintain;
pub(crate) mod measure;
pub mod teach;

use std::fmt::Write as _;

use clap::{Arg, Command, Subcommand as _};

type Group = (&'static str, fn(Command) -> Command);

/// All commands but hidden ones, those of a learner first.
pub(crate) const GROUPS: [Group; 4] = [
    ("Commands", learn::Command::augment_subcommands),
    ("For a class", teach::Command::augment_subcommands),
    ("Measuring", measure::Command::augment_subcommands),
    ("Keeping the repository", maintain::Command::augment_subcommands),
];

/// Returns the table of all commands with their options.
pub(crate) fn table() -> String {
    let mut out =
        String::from("| command | what |\n| --- | --- |\n| `cargo xtask` | where you are, and what to do next |\n");
    for (title, group) in GROUPS {
        let _ = writeln!(out, "| **{title}** | |");
        for command in group(Command::new("")).get_subcommands() {
            let long = command.get_long_about().map(|text| text.to_string().replace("\n\n", ". "));
            let mut what = long.unwrap_or_else(|| description(command));
            let mut usage = format!("cargo xtask {}", command.get_name());
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let _ = write!(usage, " {}", usage_of(arg));
                if arg.is_trailing_var_arg_set() {
                    let _ = write!(what, ": {}", arg.get_help().map(ToString::to_string).unwrap_or_default());
                }
            }
            let _ = writeln!(out, "| `{}` | {what} |", usage.replace('|', "\\|"));
        }
    }
    out
}

pub(crate) fn description(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Returns an argument as a usage has it: `STEP…`, `[--size SIZE,…]`, `--out DIR`.
fn usage_of(arg: &Arg) -> String {
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
    if arg.is_required_set() { text } else { format!("[{text}]") }
}
