//! Steps and sizes of a command line, looked up in the catalogue.

use catalog::{STEPS, Shape, Step, WrongSize};
use step_cli::Sizes;

use crate::{output::Stop, paths};

/// Returns the steps by number or name, each once; all of them for `all`. `command` is the subcommand, for the example
/// in the message.
pub fn steps(command: &str, asked: &[String]) -> Result<Vec<&'static Step>, Stop> {
    let mut chosen: Vec<&'static Step> = Vec::new();
    for text in asked {
        match text.as_str() {
            "all" => chosen.extend(STEPS),
            text => chosen.push(catalog::find(text).map_err(|error| Stop::Usage(error.to_string()))?),
        }
    }
    let chosen = catalog::distinct(chosen);
    if chosen.is_empty() {
        let me = paths::command_name();
        return Err(Stop::Usage(format!("which step? For example: {me} {command} v05, or {me} {command} all")));
    }
    Ok(chosen)
}

/// Returns [`steps`]; all steps when none is named.
pub fn steps_or_all(command: &str, asked: &[String]) -> Result<Vec<&'static Step>, Stop> {
    if asked.is_empty() { Ok(STEPS.iter().collect()) } else { steps(command, asked) }
}

/// Returns the sizes that are asked for, each one of all these steps; none when the steps choose.
pub fn shapes(sizes: &Sizes, steps: &[&Step]) -> Result<Vec<Shape>, Stop> {
    let usage = |error: WrongSize| Stop::Usage(error.to_string());
    let shapes = sizes.shapes().map_err(usage)?;
    for step in steps {
        for shape in &shapes {
            let works = step.kernels.iter().map(|kernel| kernel.work);
            shape.check_suits(step.id, works).map_err(usage)?;
        }
    }
    Ok(shapes)
}

/// Returns the options that give these sizes to a step.
pub fn arguments(shapes: &[Shape]) -> Vec<String> {
    let typed: Vec<String> = shapes.iter().map(|shape| shape.typed()).collect();
    if typed.is_empty() { Vec::new() } else { vec!["--size".to_owned(), typed.join(",")] }
}

/// Returns the steps that have kernels of ours; the others have no source to show.
pub fn with_kernels(steps: &[&'static Step]) -> Result<Vec<&'static Step>, Stop> {
    let has = |step: &&&Step| step.kernels.iter().any(|kernel| kernel.source.is_some());
    match (steps.iter().copied().filter(|step| has(&step)).collect::<Vec<_>>(), steps) {
        (with, [only]) if with.is_empty() => Err(Stop::Usage(format!("{} has no kernels in kernels/", only.id))),
        (with, _) => Ok(with),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_chosen_once_however_it_is_called() {
        let asked = ["5", "float4", "v05", "bank-conflict-free"].map(String::from);
        let ids: Vec<_> = steps("bench", &asked).expect("steps").iter().map(|s| s.id).collect();
        assert_eq!(ids, ["v05", "v04"]);
    }
}
