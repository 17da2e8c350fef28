//! `cargo xtask predict`: the questions of a step, answered before something is run.

use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use catalog::STEPS;
use catalog::text::{Paint, number, wrapped};
use records::record::{Line, Outcome};
use tasks::quiz::{self, Asked, QuestionState};
use tasks::task::{Answer, Derived};
use tasks::{Catalogue, TaskWork};
use tasks::{measure::CountedLaunch, progress::Progress};
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Status, Stop};
use xtask_support::programs::Programs;
use xtask_support::{interrupt, paths, step_args};

use crate::learner;

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask predict v05\n          cargo xtask predict v05 padding=a\n          \
    cargo xtask predict v05 padding --show\n\n\
    Without a terminal, the questions are printed, and answers are read from standard input, one `ID=ANSWER` per line.\n\
    `ID=` skips a question.")]
pub(crate) struct Args {
    /// Step: `v05`
    step: String,
    /// Questions to ask, or answers to them: a number, a quotient, or the letter of a choice
    #[arg(value_name = "ID[=ANSWER]")]
    answers: Vec<String>,
    /// Show the answers; this is recorded
    #[arg(long)]
    show: bool,
    /// Count on the emulated GPU what the answered questions ask for
    #[arg(long)]
    count: bool,
    /// Print one JSON record per question
    #[arg(long)]
    json: bool,
}

const WIDTH: usize = 100;

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let step = catalog::find(&args.step).map_err(|error| Stop::Usage(error.to_string()))?;
    let catalogues = Catalogue::load_all(&root)?;
    let all = quiz::of_step(&catalogues, step.id);
    if all.is_empty() {
        if !args.json {
            output::print(&format!("{} has no questions\n", step.id))?;
        }
        return Ok(CommandOutcome::Passed);
    }
    let mut quiz = Quiz {
        root: &root,
        step: step.id,
        progress: Progress::load(&root)?,
        revealed: BTreeSet::new(),
        json: args.json,
        paint: Paint::for_stdout(),
    };
    let mut chosen: Vec<&Asked<'_>> = Vec::new();
    let mut given: Vec<(&Asked<'_>, &str)> = Vec::new();
    for word in &args.answers {
        let (name, answer) = word.split_once('=').map_or((word.as_str(), None), |(name, answer)| (name, Some(answer)));
        let asked = named(&all, name, step.id)?;
        chosen.push(asked);
        if let Some(answer) = answer {
            understood(asked, answer)?;
            given.push((asked, answer));
        }
    }
    if chosen.is_empty() {
        chosen = all.iter().collect();
    }
    let mut right = true;
    if !given.is_empty() {
        for (asked, answer) in &given {
            right &= quiz.answer(asked, answer)?;
        }
    } else if !args.show && !args.count {
        let talks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        right = if talks && !args.json { quiz.talk(&chosen)? } else { quiz.read(&all, &chosen)? };
    }
    if args.show {
        quiz.show(&chosen)?;
    }
    let counted = if args.count { quiz.count(&chosen)? } else { Vec::new() };
    if args.json {
        for asked in &chosen {
            let counted = counted.iter().find(|(key, _)| *key == asked.key());
            let record = quiz.record(asked, counted.map(|(_, value)| *value));
            output::print(&format!("{record}\n"))?;
        }
    }
    Ok(if right { CommandOutcome::Passed } else { CommandOutcome::Failed })
}

fn named<'a, 'b>(all: &'b [Asked<'a>], name: &str, step: &str) -> Result<&'b Asked<'a>, Stop> {
    quiz::find(all, name.trim()).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(Asked::name).collect();
        Stop::Usage(format!("{step} has no question `{}`; it has {}", name.trim(), names.join(", ")))
    })
}

/// Refuses a malformed answer, which is a slip of the keyboard, and not a wrong one.
fn understood(asked: &Asked<'_>, answer: &str) -> Result<(), Stop> {
    if answer.trim().is_empty() || asked.question.understands(answer) {
        return Ok(());
    }
    Err(Stop::Usage(format!("{}: {}", asked.name(), not_understood(asked, answer))))
}

fn not_understood(asked: &Asked<'_>, answer: &str) -> String {
    let answer = answer.trim();
    match asked.question.choices.len() {
        0 => format!("`{answer}` is not a number"),
        n => format!("`{answer}` is not one of the choices a to {}", quiz::letter(n - 1)),
    }
}

struct Quiz<'a> {
    root: &'a Path,
    step: &'a str,
    progress: Progress,
    /// Keys of the questions whose answers were shown.
    revealed: BTreeSet<String>,
    json: bool,
    paint: Paint,
}

impl Quiz<'_> {
    /// Prints for people, and not among records.
    fn print(&self, text: &str) -> Result<()> {
        if self.json { Ok(()) } else { output::print(text) }
    }

    fn state(&self, asked: &Asked<'_>) -> QuestionState {
        asked.state(&self.progress)
    }

    /// Changes the progress here, and in the file where that can be.
    fn note(&mut self, change: impl Fn(&mut Progress, u64)) {
        change(&mut self.progress, catalog::time::now());
        learner::note_progress(self.root, change);
    }

    /// Takes an answer; `false` when it is wrong. An empty one skips the question.
    fn answer(&mut self, asked: &Asked<'_>, answer: &str) -> Result<bool> {
        let (answer, key, name) = (answer.trim(), asked.key(), asked.name());
        if answer.is_empty() {
            self.note(|progress, now| progress.answered(&key, None, now));
            self.print(&format!("{name}: skipped\n"))?;
            return Ok(true);
        }
        let right = asked.question.accepts(answer);
        self.note(|progress, now| progress.answered(&key, Some((answer, right)), now));
        let shown = asked.question.chosen(answer).map_or(answer, String::as_str);
        if right {
            let (good, because) = (self.paint.good("right"), asked.question.because.trim());
            self.print(&wrapped(&format!("{name}: {good}, {shown}. {because}"), "", WIDTH))?;
        } else {
            let bad = self.paint.bad("wrong");
            let slip = asked.question.slip(answer).map(|slip| format!(". {slip}")).unwrap_or_default();
            self.print(&wrapped(&format!("{name}: {bad}, it is not {shown}{slip}"), "", WIDTH))?;
        }
        Ok(right)
    }

    /// Asks one question after the other on a terminal.
    fn talk(&mut self, chosen: &[&Asked<'_>]) -> Result<bool> {
        let open: Vec<&&Asked<'_>> = chosen.iter().filter(|asked| self.state(asked) != QuestionState::Right).collect();
        if open.is_empty() {
            let me = paths::command_name();
            output::print(&format!(
                "all questions of {step} are answered; the answers: {me} predict {step} --show\n",
                step = self.step
            ))?;
            return Ok(true);
        }
        let mut all_right = true;
        let mut lines = std::io::stdin().lock().lines();
        for asked in open {
            output::print(&format!("\n{}", self.question_text(asked)))?;
            let mut right = true;
            loop {
                output::print("answer, or Enter to skip: ")?;
                let Some(line) = lines.next() else {
                    output::print("\n")?;
                    return Ok(all_right && right);
                };
                let line = line?;
                if !line.trim().is_empty() && !asked.question.understands(&line) {
                    output::print(&format!("{}\n", not_understood(asked, &line)))?;
                    continue;
                }
                if line.trim().is_empty() && !right {
                    // The wrong answer stays recorded.
                    break;
                }
                right = self.answer(asked, &line)?;
                if right {
                    break;
                }
            }
            all_right &= right;
        }
        Ok(all_right)
    }

    /// Prints the questions, and takes answers from standard input where that is not a terminal.
    fn read(&mut self, all: &[Asked<'_>], chosen: &[&Asked<'_>]) -> Result<bool> {
        for asked in chosen {
            self.print(&format!("{}\n", self.question_text(asked)))?;
        }
        let mut right = true;
        let mut n = 0;
        if !std::io::stdin().is_terminal() {
            for line in std::io::stdin().lock().lines() {
                let line = line.context("standard input")?;
                let line = line.trim();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                let Some((name, answer)) = line.split_once('=') else {
                    bail!(Stop::Usage(format!("`{line}` is not an answer; write ID=ANSWER")));
                };
                let asked = named(all, name, self.step)?;
                understood(asked, answer)?;
                right &= self.answer(asked, answer)?;
                n += 1;
            }
        }
        if n == 0
            && let Some(first) = chosen.iter().find(|asked| self.state(asked) != QuestionState::Right)
        {
            let example = match first.question.answer {
                Answer::Number(_) => "NUMBER",
                Answer::Choice(_) => "LETTER",
            };
            let (me, name) = (paths::command_name(), first.name());
            self.print(&format!("next: {me} predict {} {name}={example}\n", self.step))?;
        }
        Ok(right)
    }

    /// Shows the answers of these questions, and records that they were shown.
    fn show(&mut self, chosen: &[&Asked<'_>]) -> Result<()> {
        for asked in chosen {
            let key = asked.key();
            if self.state(asked) != QuestionState::Right {
                self.note(|progress, now| progress.showed(&key, now));
            }
            self.revealed.insert(key);
            let question = asked.question;
            let because = question.because.trim();
            let answer = question.answer.text();
            self.print(&format!(
                "{}{}\n",
                self.question_text(asked),
                wrapped(&format!("answer: {answer}. {because}"), "  ", WIDTH)
            ))?;
        }
        Ok(())
    }

    fn question_text(&self, asked: &Asked<'_>) -> String {
        let (name, question) = (asked.name(), asked.question);
        let state = match (self.state(asked), asked.again) {
            (QuestionState::Open, Some(_)) => format!("  ({} asked it first)", asked.step),
            (QuestionState::Open, None) => String::new(),
            (state, _) => {
                let answer = asked.progress(&self.progress).answer;
                match (answer, state) {
                    (Some(answer), QuestionState::Right | QuestionState::Wrong) => {
                        format!("  ({}: {answer})", state.label())
                    }
                    _ => format!("  ({})", state.label()),
                }
            }
        };
        let mut out = format!("{}{state}\n", self.paint.bold(&name));
        out.push_str(&wrapped(&question.question, "  ", WIDTH));
        let choices = question.choices.iter().enumerate();
        out.extend(choices.map(|(at, choice)| format!("    {}  {choice}\n", quiz::letter(at))));
        out
    }

    /// Returns whether the answer may be shown: it was tried or revealed.
    fn is_open_book(&self, asked: &Asked<'_>) -> bool {
        let known = asked.progress(&self.progress);
        self.revealed.contains(&asked.key()) || known.tries > 0 || known.shown.is_some()
    }

    /// Counts on the emulated GPU what can be counted: keys and values.
    fn count(&self, chosen: &[&Asked<'_>]) -> Result<Vec<(String, f64)>> {
        let mut values = Vec::new();
        let mut n_closed = 0;
        for asked in chosen {
            let Some(derived) = &asked.question.derive else { continue };
            if !self.is_open_book(asked) {
                n_closed += 1;
                continue;
            }
            let shape = derived.shape();
            let value = counted(derived)?;
            let none = "not available from the counters of a whole launch";
            let text = value.map_or_else(|| none.into(), |value| number(value, 4));
            self.print(&wrapped(
                &format!(
                    "{}: counted {text}: {}, {} on {shape}",
                    asked.name(),
                    derived.measure.description(derived.bk),
                    derived.kernel,
                ),
                "",
                WIDTH,
            ))?;
            values.extend(value.map(|value| (asked.key(), value)));
        }
        if n_closed > 0 {
            output::note(&format!("{n_closed} more can be counted once they are answered, or shown with --show"));
        } else if values.is_empty() {
            output::note("none of these questions has an answer that is counted");
        }
        Ok(values)
    }

    /// Returns a question as a record. The answer is in it only once somebody answered right, or asked for it.
    fn record(&self, asked: &Asked<'_>, counted: Option<f64>) -> serde_json::Value {
        let (question, known, state) = (asked.question, asked.progress(&self.progress), self.state(asked));
        let told = state == QuestionState::Right || self.revealed.contains(&asked.key());
        serde_json::json!({"question": {
            "step": asked.step,
            "id": question.id,
            "name": asked.name(),
            "again": asked.again,
            "question": question.question,
            "choices": question.choices,
            "state": state.label(),
            "given": known.answer,
            "tries": known.tries,
            "answer": told.then_some(&question.answer),
            "because": told.then_some(&question.because),
            "counted": counted,
        }})
    }
}

/// Runs a kernel of the ladder on the emulated GPU, and computes a measure from its counters; `None` where they do not
/// give it.
fn counted(derived: &Derived) -> Result<Option<f64>> {
    let known = STEPS.iter().find_map(|step| Some((step, step.kernel(&derived.kernel)?)));
    let Some((step, kernel)) = known else {
        bail!("there is no kernel {}", derived.kernel);
    };
    let Some(work) = TaskWork::of(kernel.work) else { return Ok(None) };
    let shape = derived.shape();
    interrupt::watch();
    let programs = Programs::find_or_build(&[step])?;
    let mut words: Vec<String> = ["bench", "--json", "--emulate", "--kernel", kernel.name].map(String::from).to_vec();
    words.extend(step_args::arguments(&[shape]));
    let mut passed = None;
    let ended = programs.stream_records(&[], step, &words, &Status::on_stderr(), |_, line| {
        if let Line::Measurement(measurement) = line
            && measurement.kernel == kernel.name
            && let Outcome::Passed(outcome) = measurement.outcome
        {
            passed = Some(outcome);
        }
        Ok(())
    });
    interrupt::check("nothing was counted")?;
    let ended = ended?;
    let Some(passed) = passed else {
        bail!("{} was not counted: {}", kernel.name, ended.message(step));
    };
    let Some(total) = &passed.counters else {
        bail!("{} was not counted: it ran on a real GPU", kernel.name);
    };
    Ok(derived.measure.value(&CountedLaunch {
        total,
        instructions: &[],
        grid: passed.grid,
        block: passed.block,
        work,
        shape,
        bk: derived.bk,
        ahead: None,
    }))
}
