use super::*;

#[test]
fn the_help_and_the_table_have_every_command() {
    let help = declared().render_help().to_string();
    let table = crate::commands::table();
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let (name, about) = (command.get_name(), description(command));
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
