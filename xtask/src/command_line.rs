//! The whole command line, with a help that shows the commands in groups.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command, CommandFactory as _};

use crate::Cli;
use crate::commands::{GROUPS, description};

/// Returns the whole command line, with a help that shows the groups: clap has headings for options alone.
pub(crate) fn declared() -> Command {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, group) in GROUPS {
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for command in group(Command::new("")).get_subcommands() {
            let (name, about) = (command.get_name(), description(command));
            let _ = writeln!(template, "  {literal}{name:<10}{literal:#} {about}");
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    Cli::command().help_template(template)
}
