//! Checks of a parsed catalogue: contradictions between fields that each have the right type.

use super::{Answer, Catalogue, Criterion, Question, Task, TaskKind};
use crate::part_id::{self, WRONG_RESULT};
use crate::{host, variant};

impl Catalogue {
    /// Returns the first contradiction: its place in the file, and the reason.
    pub(super) fn complaint(&self) -> Option<(String, String)> {
        let mut ids: Vec<&str> = Vec::new();
        for task in &self.tasks {
            let place = task.name.id.as_ref().map_or("rebuild".to_owned(), |id| format!("transfer {id}"));
            if let Some(id) = &task.name.id {
                let drawn = (id == variant::ID && self.variant.is_some())
                    .then(|| format!("`{id}` is the task whose numbers are drawn"));
                if let Some(why) = id_complaint(id, &ids).or(drawn) {
                    return Some((place, why));
                }
                ids.push(id);
            }
            if let Some((inner, why)) = task.complaint() {
                let place = if inner.is_empty() { place } else { format!("{place}, {inner}") };
                return Some((place, why));
            }
        }
        let mut ids: Vec<&str> = Vec::new();
        for question in &self.questions {
            let why = id_complaint(&question.id, &ids).or_else(|| question.complaint());
            if let Some(why) = why {
                return Some((format!("why {}", question.id), why));
            }
            ids.push(&question.id);
        }
        None
    }
}

/// Checks an id, which becomes part of file names and command lines.
fn id_complaint(id: &str, earlier: &[&str]) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(plain) || id.starts_with('-') {
        return Some(format!("`{id}` is not an id; ids consist of lower-case letters, digits and hyphens"));
    }
    earlier.contains(&id).then(|| format!("a second one is called `{id}`"))
}

/// Returns whether a code of a verdict does not come from a criterion.
fn is_code(text: &str) -> bool {
    ["", "compile", "no-entry", WRONG_RESULT, "timeout"].contains(&text)
        || text.starts_with("E-")
        || text.starts_with("W-")
}

impl Task {
    /// Returns the first contradiction in a task: its place in the task's table, and the reason.
    pub(super) fn complaint(&self) -> Option<(String, String)> {
        let lacks_text = self.kind == TaskKind::Transfer && (self.title.is_empty() || self.text.is_empty());
        let threads = self.block.iter().map(|n| u64::from(*n)).product::<u64>();
        let wrong = [
            (lacks_text, "it has no title or no text"),
            (self.tile.contains(&0), "tile: rows and columns of a tile start at 1"),
            (!(1..=1024).contains(&threads), "block: a block has 1 to 1024 threads"),
            (self.minutes == 0, "minutes: nothing takes no time"),
            (self.shows.iter().any(|part| part.lines.trim().is_empty()), "shows: no lines"),
        ];
        if let Some((_, why)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Some((String::new(), why.to_owned()));
        }
        let mut ids: Vec<&str> = Vec::new();
        for criterion in &self.criteria {
            let why = id_complaint(&criterion.id, &ids).or_else(|| self.criterion_complaint(criterion));
            if let Some(why) = why {
                return Some((format!("does {}", criterion.id), why));
            }
            ids.push(&criterion.id);
        }
        if self.host.is_some() {
            ids.push(host::NO_IDLE_BLOCKS.0);
        }
        for hint in &self.hints {
            if !is_code(&hint.symptom) && !ids.contains(&hint.symptom.as_str()) {
                return Some((
                    "hints".into(),
                    format!("symptom `{}` is neither a code nor the id of a criterion", hint.symptom),
                ));
            }
            if hint.levels.is_empty() {
                return Some(("hints".into(), format!("symptom `{}` has no levels", hint.symptom)));
            }
        }
        None
    }

    fn criterion_complaint(&self, criterion: &Criterion) -> Option<String> {
        let Criterion { at_most, at_least, bk, .. } = criterion;
        if is_code(&criterion.id)
            || [part_id::RIGHT, part_id::CLEAN, part_id::COMPILES].contains(&criterion.id.as_str())
        {
            return Some(format!("`{}` has a meaning of its own", criterion.id));
        }
        let is_empty = at_most.zip(*at_least).is_some_and(|(most, least)| most < least);
        let lacks_depth = criterion.measure.needs_depth() && bk.is_none_or(|depth| depth == 0);
        let wrong = [
            (at_most.or(*at_least).is_none(), "neither at_most nor at_least: nothing could fail it"),
            (is_empty, "at_most is less than at_least: nothing could pass it"),
            (lacks_depth, "bk: this measure needs the depth of a step of the k loop"),
            (!criterion.measure.fits(self.work), "measure: it is of products, and this is a transpose"),
        ];
        let why = wrong.into_iter().find(|(is_wrong, _)| *is_wrong).map(|(_, why)| why.to_owned());
        why.or_else(|| shape_complaint(&criterion.shape, self.work.is_transpose()))
    }
}

/// Checks the sizes of a launch. They are limited because it runs on the emulated GPU while a learner waits.
fn shape_complaint(shape: &[usize], is_transpose: bool) -> Option<String> {
    const MAX_VOLUME: usize = 1 << 28;
    let sizes = match (is_transpose, shape) {
        (true, [m, n] | [m, n, 0]) => [*m, *n, 1],
        (true, _) => return Some("shape: a transpose has rows and columns".into()),
        (false, [m, n, k]) => [*m, *n, *k],
        (false, _) => return Some("shape: a product has m, n and k".into()),
    };
    let volume = sizes.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    match volume {
        Some(0) => Some("shape: sizes start at 1".into()),
        Some(n) if n <= MAX_VOLUME => None,
        _ => Some("shape: too large to be counted in a moment".into()),
    }
}

impl Question {
    pub(super) fn complaint(&self) -> Option<String> {
        if let Some(step) = &self.again
            && catalog::STEPS.iter().all(|known| known.id != step)
        {
            return Some(format!("again: there is no step `{step}`"));
        }
        match (&self.answer, self.choices.as_slice()) {
            (Answer::Number(_), []) => {}
            (Answer::Number(_), _) => return Some("answer: a number, though there are choices".into()),
            (Answer::Choice(_), []) => return Some("answer: a text, and no choices".into()),
            (Answer::Choice(answer), choices) => {
                if choices.iter().filter(|choice| *choice == answer).count() != 1 {
                    return Some("answer: not exactly one of the choices".into());
                }
            }
        }
        if let Some(slip) = self.slips.keys().find(|slip| self.accepts(slip) || !self.understands(slip)) {
            return Some(format!("slips: `{slip}` is no wrong answer"));
        }
        if let Some(why) = self.variant.as_ref().and_then(|variant| variant.complaint(|given| self.accepts(given))) {
            return Some(why);
        }
        let derive = self.derive.as_ref()?;
        let kernel = catalog::STEPS.iter().flat_map(|step| step.kernels).find(|kernel| kernel.name == derive.kernel);
        let Some(kernel) = kernel else { return Some(format!("derive: there is no kernel `{}`", derive.kernel)) };
        if derive.measure.needs_depth() && derive.bk.is_none() {
            return Some("derive: this measure needs bk".into());
        }
        shape_complaint(&derive.shape, kernel.work == catalog::Work::Transpose)
    }
}
