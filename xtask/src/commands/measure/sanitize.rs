//! `cargo xtask sanitize`: `check` of the steps under NVIDIA's compute-sanitizer, tool by tool.
//!
//! It needs a GPU, the tool and the programs of the steps, and nothing else: copied to a folder, `xtask` and the steps
//! do it without Rust.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use catalog::Step;
use catalog::text::{Paint, Table};
use records::sanitizer::{SanitizerRecord, Session as Checked, TOOLS, Verdict as Said};
use records::{Run, record::Line};
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Status};
use xtask_support::programs::Programs;
use xtask_support::{interrupt, kernels, paths, step_args};

use crate::commands::measure::tools;

const SANITIZER: &str = "compute-sanitizer";

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask sanitize v05\n          cargo xtask sanitize --save")]
pub(crate) struct Args {
    /// Steps: `v05`, `5` or `bank-conflict-free`; all steps when left out
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Save the result in book/data
    #[arg(long)]
    save: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let steps = step_args::steps_or_all("sanitize", &args.steps)?;
    let steps = step_args::with_kernels(&steps)?;
    let folder = args.save.then(|| paths::record_folder("without it, the result is shown only")).transpose()?;
    let programs = kernels::programs(&steps)?;
    let (Some(program), true) = (tools::tool(SANITIZER), paths::has_gpu()) else {
        return print_commands(&programs, &steps);
    };
    let version = tools::version(&program).unwrap_or_else(|| "of unknown version".into());
    let mut session =
        Session { programs: &programs, program: program.display().to_string(), run: None, verdicts: Vec::new() };
    let mut text = String::new();
    for step in &steps {
        for tool in TOOLS {
            text.push_str(&session.check(step, tool)?);
        }
    }
    output::print(&render_table(&session.verdicts, Paint::for_stdout()))?;
    let clean = session.verdicts.iter().all(Said::is_clean);
    if let Some(folder) = folder {
        let run = session.run.context("no step said where it ran")?;
        let path = folder.join(format!("{}-sanitizer.json", run.slug()));
        for said in &mut session.verdicts {
            said.run.clone_from(&run.id);
        }
        let by = Checked {
            run,
            sanitizer: format!("Compute Sanitizer {version}"),
            driver_version: tools::driver_version().unwrap_or_else(|| "unknown".into()),
        };
        SanitizerRecord::merge_into(&path, &by, &session.verdicts)?;
        output::note(&format!("saved in {}", paths::display_path(&path)));
    }
    if clean {
        Ok(CommandOutcome::Passed)
    } else {
        output::note(&text);
        Ok(CommandOutcome::Failed)
    }
}

/// Returns the tool and its arguments, except for where its answer goes.
fn sanitizer(program: &str, tool: &str) -> Vec<String> {
    [program, "--tool", tool, "--print-limit", "3"].map(str::to_owned).into()
}

/// Explains what to run on a machine with a GPU and the tool, where one of them is missing.
fn print_commands(programs: &Programs, steps: &[&'static Step]) -> Result<CommandOutcome> {
    let words = ["check".to_owned()];
    let mut out = String::new();
    for step in steps {
        for tool in TOOLS {
            let line = programs.command_line(&sanitizer(SANITIZER, tool), step, &words);
            out.push_str(&format!("{line}\n"));
        }
    }
    output::print(&out)?;
    let missing =
        if paths::has_gpu() { "compute-sanitizer is not on the PATH" } else { "this machine has no NVIDIA GPU" };
    Err(anyhow!(
        "{missing}, so nothing was checked; run the commands above on a machine that has both, or here: {} check all, which \
         checks on the emulated GPU",
        paths::command_name()
    ))
}

struct Session<'a> {
    programs: &'a Programs,
    program: String,
    run: Option<Run>,
    verdicts: Vec<Said>,
}

impl Session<'_> {
    /// Runs one tool on all kernels of a step, and returns its report.
    fn check(&mut self, step: &'static Step, tool: &str) -> Result<String> {
        let answer = std::env::temp_dir().join(format!("tile-{}-{}.txt", step.id, std::process::id()));
        let mut words = sanitizer(&self.program, tool);
        words.extend(["--log-file".to_owned(), answer.display().to_string()]);
        let status = Status::on_stderr();
        status.set(&format!("{}  {tool}", step.id));
        // The run is filled in once the first step has reported its device.
        let mut said = Said { step: step.id.into(), tool: tool.into(), ..Said::default() };
        let mut wrong = None;
        let check = ["check", "--json"].map(String::from);
        let ended = self.programs.stream_records(&words, step, &check, &status, |_, line| {
            match line {
                Line::Run(run) => drop(self.run.get_or_insert(*run)),
                Line::Check(check) => {
                    said.n_shapes += check.n_passed;
                    said.kernels.push(check.kernel.clone());
                    if let Some(failed) = check.failed {
                        wrong = Some(format!("{} on {}: {}", check.kernel, failed.shape, failed.why));
                    }
                }
                _ => {}
            }
            Ok(())
        });
        status.clear();
        let text = take(&answer);
        interrupt::check(format!("{} was not finished", step.id))?;
        let ended = ended?;
        if let Some(wrong) = wrong {
            bail!("{wrong} (under {tool}); see: {} check {}", paths::command_name(), step.id);
        }
        let Some((n_errors, n_warnings)) = found(&text) else {
            bail!("{tool} did not end on {}: {}{}", step.id, text.trim(), ended.message(step));
        };
        (said.n_errors, said.n_warnings) = (n_errors, n_warnings);
        let clean = said.is_clean();
        self.verdicts.push(said);
        Ok(if clean { String::new() } else { text })
    }
}

fn take(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    text
}

/// Errors and warnings from the last lines of an answer. `None` when there is no such line.
fn found(text: &str) -> Option<(u64, u64)> {
    let mut sum: Option<(u64, u64)> = None;
    for line in text.lines().filter(|line| line.contains(" SUMMARY: ")) {
        let number = |unit: &str| -> u64 {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
            let at = words.iter().position(|word| word.starts_with(unit));
            at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
        };
        let (errors, warnings) = sum.unwrap_or_default();
        sum = Some((errors + number("error"), warnings + number("warning")));
    }
    sum
}

fn render_table(verdicts: &[Said], paint: Paint) -> String {
    let heading = ["step", "kernels", "shapes"].into_iter().chain(TOOLS);
    let mut table = Table::new(heading);
    for first in verdicts.iter().filter(|said| said.tool == TOOLS[0]) {
        let of = |tool: &str| verdicts.iter().find(|said| said.step == first.step && said.tool == tool);
        let cells = TOOLS.map(|tool| match of(tool) {
            Some(said) if said.is_clean() => "clean".to_owned(),
            Some(said) => format!("{} errors, {} warnings", said.n_errors, said.n_warnings),
            None => String::new(),
        });
        let front = [first.step.clone(), first.kernels.len().to_string(), first.n_shapes.to_string()];
        table.row(front.into_iter().chain(cells));
    }
    table.render(paint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_tells_how_much_was_found() {
        assert_eq!(found("========= ERROR SUMMARY: 0 errors\n"), Some((0, 0)));
        assert_eq!(found("========= ERROR SUMMARY: 1 error\n"), Some((1, 0)));
        let races = "========= RACECHECK SUMMARY: 5 hazards displayed (3 errors, 2 warnings)\n";
        assert_eq!(found(races), Some((3, 2)));
        assert_eq!(found("========= COMPUTE-SANITIZER\n"), None);
    }
}
