//! `{{#predict}}`, `{{#sheets}}`, `{{#answers}}`: questions of the steps in chapters, on sheets, and with answers.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use catalog::{STEPS, text::escaped};
use tasks::quiz::{self, Asked};
use tasks::task::{Answer, Question};

use crate::RepoPaths;
use crate::directives::tasks::{catalogue, prose};
use crate::{markdown::Table, slides::QuestionSlide};

/// Expands `{{#predict v05}}`: a step's questions and those repeated there; ids select, of other steps as `v03.id`.
pub(crate) fn predict(repo: &RepoPaths, step: &str, ids: &[&str]) -> Result<String> {
    let step = catalog::find(step)?;
    let catalogues = STEPS.iter().map(|step| catalogue(repo, step.id));
    let catalogues = catalogues.collect::<Result<Vec<_>, _>>()?;
    let mut posed = quiz::of_step(&catalogues, step.id);
    if !ids.is_empty() {
        let find =
            |id: &&str| quiz::find(&posed, id).copied().with_context(|| format!("{} has no question `{id}`", step.id));
        posed = ids.iter().map(find).collect::<Result<_>>()?;
    }
    ensure!(!posed.is_empty(), "{} has no questions", step.id);
    let mut out =
        format!("Answer before you unfold ours, on paper or in a terminal: `cargo xtask predict {}`.\n\n", step.id);
    for (number, posed) in (1..).zip(posed) {
        let again = posed.again.map(|_| format!("**Again, from {}.**", posed.step));
        out.push_str(&with_folded_answer(&again.unwrap_or_else(|| format!("**{number}.**")), posed));
    }
    Ok(out)
}

/// Formats a question in an element with what `book/src/explorers/questions.js` checks an answer by.
fn with_folded_answer(head: &str, posed: Asked<'_>) -> String {
    let question = posed.question;
    let right = match &question.answer {
        Answer::Number(number) => number.to_string(),
        Answer::Choice(right) => {
            question.choices.iter().position(|choice| choice == right).map(quiz::letter).into_iter().collect()
        }
    };
    let within = question.within.map(|within| format!(" data-within=\"{within}\"")).unwrap_or_default();
    let slips = serde_json::to_string(&question.slips).unwrap_or_default();
    let slips = if question.slips.is_empty() { String::new() } else { format!(" data-slips=\"{}\"", escaped(&slips)) };
    let (key, text) = (posed.key(), prose(&question.question));
    let mut out = format!(
        "<div class=\"question\" data-question=\"{key}\" data-answer=\"{right}\"{within}{slips}>\n\n{head} {text}\n\n"
    );
    if !question.choices.is_empty() {
        for (at, choice) in question.choices.iter().enumerate() {
            let _ = writeln!(out, "- ({}) {}", quiz::letter(at), prose(choice));
        }
        out.push('\n');
    }
    let answer = answer_with_reason(question);
    let _ = write!(out, "<details><summary>Answer</summary>\n\n{answer}\n\n</details>\n\n</div>\n\n");
    out
}

/// Formats the answer with its reason, and the kernel whose counts confirm it, if there is one.
fn answer_with_reason(question: &Question) -> String {
    let counted = match &question.derive {
        Some(derived) => format!(" The emulated GPU counts it, in `{}`.", derived.kernel),
        None => String::new(),
    };
    format!("**{}.** {}{counted}", answer(question), prose(&question.because))
}

/// Formats an answer as `8` or `(b) the text`.
fn answer(question: &Question) -> String {
    match &question.answer {
        Answer::Number(_) => question.answer.text(),
        Answer::Choice(right) => {
            let at = question.choices.iter().position(|choice| choice == right);
            let letter = at.map(|at| format!("({}) ", quiz::letter(at)));
            format!("{}{}", letter.unwrap_or_default(), prose(right))
        }
    }
}

pub(crate) fn slides(repo: &RepoPaths, step: &str, ids: &[&str]) -> Result<Vec<QuestionSlide>> {
    let questions = catalogue(repo, step)?.questions;
    let wanted = |question: &&Question| ids.is_empty() || ids.contains(&question.id.as_str());
    let slides = questions.iter().filter(wanted).map(|question| QuestionSlide {
        question: question.question.clone(),
        choices: question.choices.clone(),
        answer: question.answer.text(),
        because: question.because.clone(),
    });
    Ok(slides.collect())
}

/// Expands `{{#sheets}}`: for each step, a sheet to print and write predictions on.
pub(crate) fn sheets(repo: &RepoPaths) -> Result<String> {
    let mut out = String::new();
    for step in STEPS {
        let questions = catalogue(repo, step.id)?.questions;
        if questions.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "<section class=\"sheet\">\n\n## {} {} {{#{}}}\n\n*{}.*\n\n\
             <p class=\"who\"><span>Name</span><span>Date</span></p>\n\n",
            step.id,
            step.name,
            step.id,
            catalog::text::capital(step.idea)
        );
        for (number, question) in (1..).zip(&questions) {
            let _ = write!(out, "**{number}.** {}\n\n", prose(&question.question));
            if question.variant.is_some() {
                let id = format!("{}.{}", step.id, question.id);
                let _ =
                    write!(out, "*In an assignment your numbers are others: `cargo xtask questions ID`, {id}.*\n\n");
            }
            if question.choices.is_empty() {
                out.push_str("<p class=\"blank\"><span>Answer</span><span>because</span></p>\n\n")
            } else {
                for choice in &question.choices {
                    let _ = writeln!(out, "- ☐ {}", prose(choice));
                }
                out.push_str("\n<p class=\"blank\"><span>because</span></p>\n\n");
            }
        }
        out.push_str(
            "**Afterwards.** What came out differently, and what had you assumed?\n\n\
             <p class=\"blank\"><span></span></p>\n\n<p class=\"blank\"><span></span></p>\n\n</section>\n\n",
        );
    }
    Ok(out)
}

/// Expands `{{#answers}}`: all answers, for instructors.
pub(crate) fn answers(repo: &RepoPaths) -> Result<String> {
    let mut table = Table::new("step | question | answer | again in");
    for step in STEPS {
        for (number, question) in (1..).zip(catalogue(repo, step.id)?.questions) {
            let (name, answer) = (format!("{number}. `{}`", question.id), answer(&question).replace('|', "\\|"));
            table.row(&[&step.id, &name, &answer, &question.again.as_deref().unwrap_or_default()]);
        }
    }
    Ok(table.to_string())
}
