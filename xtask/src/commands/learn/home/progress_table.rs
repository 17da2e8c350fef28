//! The learner's progress on all steps, from the catalogues and the progress file alone.

use std::path::{Path, PathBuf};

use catalog::text::{Paint, Table};
use tasks::progress::{Progress, TaskProgress};
use tasks::quiz::{self, QuestionState};
use tasks::task::TaskKind;
use tasks::{Catalogue, Task};
use xtask_support::{output, paths};

use crate::learner;

/// Catalogues and progress of a checkout.
pub(super) struct State {
    root: PathBuf,
    catalogues: Vec<Catalogue>,
    progress: Progress,
}

/// Reads them. What cannot be read is named, and left out.
pub(super) fn load(root: &Path) -> Option<State> {
    let catalogues = Catalogue::load_all(root).inspect_err(|error| output::note(&error.to_string())).ok()?;
    if catalogues.iter().all(|known| known.tasks.is_empty() && known.questions.is_empty()) {
        return None;
    }
    let progress = Progress::load(root).unwrap_or_else(|error| {
        output::note(&error.to_string());
        Progress::default()
    });
    Some(State { root: root.to_owned(), catalogues, progress })
}

impl State {
    pub(super) fn table(&self, paint: Paint) -> String {
        let mut table = Table::new(["step", "name", "its kernel", "more tasks", "questions"]).left(3);
        // A repository of tasks has those of some steps.
        for catalogue in self.catalogues.iter().filter(|known| !known.tasks.is_empty() || !known.questions.is_empty()) {
            let name = catalog::find(&catalogue.step).map_or("", |step| step.name);
            let kernel = catalogue.tasks.iter().find(|task| task.name.id.is_none());
            let kernel = kernel.map_or(String::new(), |task| self.state(task));
            let more: Vec<&Task> = catalogue.tasks.iter().filter(|task| task.name.id.is_some()).collect();
            let done = more.iter().filter(|task| self.task_progress(task).passed.is_some()).count();
            let (right, all) = self.questions(&catalogue.step);
            table.row([catalogue.step.clone(), name.to_owned(), kernel, share(done, more.len()), share(right, all)]);
        }
        let programs = if paths::has_finished_kernels(&self.root) { &catalog::PROGRAMS[..] } else { &[] };
        for program in programs {
            table.row([program.id.to_owned(), program.name.to_owned(), String::new(), String::new(), String::new()]);
        }
        format!("\n{}", table.without_empty_columns().render(paint))
    }

    fn task_progress(&self, task: &Task) -> TaskProgress {
        self.progress.task(&task.name)
    }

    /// Returns the questions that were answered right, and all that are asked in a step.
    fn questions(&self, step: &str) -> (usize, usize) {
        let asked = quiz::of_step(&self.catalogues, step);
        let right = asked.iter().filter(|asked| asked.state(&self.progress) == QuestionState::Right).count();
        (right, asked.len())
    }

    fn is_started(&self, task: &Task) -> bool {
        self.task_progress(task).last.is_some() || task.copy_path(&self.root).is_file()
    }

    /// Returns the state of a task in words, such as `started: no-excess`.
    fn state(&self, task: &Task) -> String {
        let known = self.task_progress(task);
        match (&known.passed, &known.gave_up, &known.code) {
            (Some(_), _, _) => "passed".into(),
            (None, Some(_), _) => "gave up".into(),
            (None, None, Some(code)) => format!("started: {code}"),
            (None, None, None) if self.is_started(task) => "started".into(),
            (None, None, None) => "not started".into(),
        }
    }

    /// Returns the commands to go on with, the best first, and why.
    pub(super) fn next(&self, me: &str) -> Vec<(String, &'static str)> {
        let mut tasks: Vec<&Task> = self.catalogues.iter().flat_map(|known| &known.tasks).collect();
        // As on a chapter's page: the tasks whose solution it does not print come before its kernel.
        tasks.sort_by_key(|task| (task.name.step.clone(), task.kind == TaskKind::Rebuild));
        let is_open = |task: &&&Task| !self.task_progress(task).is_over();
        // The one that was worked on last; where that is over, the first.
        let mut begun = tasks.iter().filter(is_open).filter(|task| self.is_started(task));
        let touched = tasks.iter().filter(|task| self.task_progress(task).last.is_some() && self.is_started(task));
        let last = touched.max_by_key(|task| self.task_progress(task).last).filter(is_open);
        if let Some(task) = last.or_else(|| begun.next()) {
            let (name, known) = (&task.name, self.task_progress(task));
            let hash = learner::hash(&self.root, task);
            return vec![match (hash, known.code) {
                (None, _) => (format!("{me} start {name}"), "its file is gone; start over"),
                (hash, Some(_)) if hash == known.checked_sha256 => {
                    (format!("{me} hint {name}"), "your copy is as it was when it failed")
                }
                _ => (format!("{me} check {name}"), "is your kernel right?"),
            }];
        }
        // From the first step of which a task is over, so that no open task is skipped after that.
        let is_over =
            |step: &str| tasks.iter().any(|task| task.name.step == step && self.task_progress(task).is_over());
        let began = tasks.iter().position(|task| is_over(&task.name.step)).unwrap_or(0);
        let following = tasks[began..].iter().find(is_open).or_else(|| tasks.iter().find(is_open));
        let next = following.map(|task| (format!("{me} start {}", task.name), "a task to solve"));
        let has_open = |step: &str| {
            let asked = quiz::of_step(&self.catalogues, step);
            asked.iter().any(|asked| asked.state(&self.progress) == QuestionState::Open)
        };
        let asked = self.catalogues.iter().rfind(|known| is_over(&known.step) && has_open(&known.step));
        let questions = asked.map(|known| (format!("{me} predict {}", known.step), "its questions"));
        next.into_iter().chain(questions).collect()
    }
}

/// Returns a share such as `1 of 2`; empty where there is nothing to share.
fn share(done: usize, all: usize) -> String {
    match all {
        0 => String::new(),
        all => format!("{done} of {all}"),
    }
}
