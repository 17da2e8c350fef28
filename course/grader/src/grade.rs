//! Grades all submissions in parallel, each result stored under a key.
//!
//! A result is the file `work/KEY.json` in the folder for results. The key is a hash of everything that the verdict
//! depends on. Equal sources are therefore judged once, an interrupted grading continues, several machines with a
//! shared folder can each grade a part, and no stale result is used. The reports are made from these files alone.

#[cfg(all(test, unix))]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;
use catalog::files::{FileError, write_whole};
use catalog::{parallel, provenance::Sha256};
use serde::{Deserialize, Serialize};
use tasks::drawn;
use tasks::verdict::{Status, Verdict};
use tasks::{edits, part_id};

use crate::points::{self, GivenPoints};
use crate::roster;
use crate::rubric::{GradedTask, Rubric};
use crate::sandbox::Sandbox;
use crate::score::{self, Item};
use crate::similar::{self, SameKernel, SimilarPair, Source};
use crate::submissions::{self, Submission, SubmittedFile};
use crate::unit::{TaskLimits, Tools, Unit, code};
use crate::{anonymous, commits, person::Person};

/// Version of stored verdicts, raised when those of an older one must not be used.
const STORED_VERSION: u32 = 1;
/// Warning on answers to the questions of an assignment, where the rubric has those of the book.
const NOT_DRAWN: &str =
    "it answers questions with drawn numbers, and the rubric has none: grade with the one that `assign` wrote";
/// Format of the grades, raised when a program that reads the former one cannot read them.
const FORMAT: u32 = 1;

#[derive(Debug)]
pub struct Grading<'a> {
    /// The folder with a submission per student.
    pub submissions: &'a Path,
    pub rubric: &'a Rubric,
    pub out: &'a Path,
    /// Submissions judged at a time.
    pub jobs: usize,
    pub tools: &'a Tools,
    pub sandbox: &'a Sandbox,
    pub limits: TaskLimits,
    /// Starters by task name.
    pub starters: &'a BTreeMap<String, String>,
    /// Finished kernels by task name.
    pub finished: &'a BTreeMap<String, String>,
    /// People of the class; none where all who handed in something are graded.
    pub roster: Option<&'a [Person]>,
    /// Points that a person gives, by student and item.
    pub given: &'a GivenPoints,
    /// Folders of earlier submissions, to compare with.
    pub against: &'a [PathBuf],
    /// Whether to write the sources as MOSS takes them.
    pub moss: bool,
    /// Whether the grades have codes in place of names.
    pub anonymous: bool,
}

/// The grades of a class. Fields are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassGrades {
    pub format: u32,
    pub title: String,
    /// Points that can be reached.
    pub max: f64,
    /// Students, sorted by name.
    pub students: Vec<Student>,
    /// Submissions with the same kernel.
    #[serde(default)]
    pub same: Vec<SameKernel>,
    /// Pairs of submissions with common passages.
    pub similar: Vec<SimilarPair>,
    /// Code and name of each submission, where the grades are anonymous. It is in no report.
    #[serde(skip)]
    pub codes: Vec<[String; 2]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Student {
    /// Name of the submission, or the id in the list of the class.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// Sum of the items, less what a late submission loses of those that no person gave.
    pub points: f64,
    /// The parts that the points are made of.
    pub items: Vec<Item>,
    /// Verdicts in the order of the rubric.
    pub verdicts: Vec<Verdict>,
    /// Remarks for the instructor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Remarks on what the instructor has to look at: nothing was graded, or no student of the list owns it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Student {
    /// Returns whether something could not be graded for a reason that is not the student's.
    pub fn is_ungraded(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.status == Status::NotRun && verdict.code.is_none())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum GradingError {
    /// The callback [`OnProgress`] returned false.
    #[error("interrupted after {done} of {total} results")]
    Interrupted { done: usize, total: usize },
    #[error(transparent)]
    Other(#[from] anyhow::Error),
    #[error(transparent)]
    File(#[from] FileError),
}

/// Callback after each result, with the number of results so far and in all; false stops the grading.
pub type OnProgress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// A task of a student.
struct Entry<'a> {
    graded: &'a GradedTask,
    handed: SubmittedFile,
    notes: Vec<String>,
    key: Option<String>,
}

/// Grades the class, or continues an interrupted grading.
pub fn run(grading: &Grading<'_>, on_progress: OnProgress<'_>) -> Result<ClassGrades, GradingError> {
    let found = find(grading)?;
    judge_all(grading, &found, None, on_progress)?;
    collect(grading, &found)
}

/// Judges one of several parts, without reports.
pub fn run_part(
    grading: &Grading<'_>, part: usize, n_parts: usize, on_progress: OnProgress<'_>,
) -> Result<(), GradingError> {
    let found = find(grading)?;
    judge_all(grading, &found, Some((part, n_parts)), on_progress)
}

/// Returns the folder of results by key.
fn work(out: &Path) -> PathBuf {
    out.join("work")
}

fn find<'a>(grading: &'a Grading<'_>) -> Result<Vec<(Submission, Vec<Entry<'a>>)>, GradingError> {
    let folder = grading.submissions.display();
    let mut submissions = submissions::all(grading.submissions).map_err(FileError::at(grading.submissions))?;
    if submissions.is_empty() {
        return Err(anyhow!("{folder} has no submissions: folders named after students, or .cu and .rs files").into());
    }
    let files = grading.rubric.files();
    // Nothing else depends on the time.
    if grading.sandbox.is_tight() && (grading.rubric.due.is_some() || grading.roster.is_some()) {
        let launcher = &grading.tools.launcher;
        let time = |of: &Submission| commits::time(launcher, grading.sandbox, &of.path, &of.dated(&files));
        let times = parallel::run_on(grading.jobs.max(1), &submissions, time, |_| !(launcher.interrupted)());
        submissions.iter_mut().zip(times).for_each(|(submission, time)| submission.committed = time);
    }
    let submissions = match grading.roster {
        Some(people) => {
            let found = roster::match_submissions(people, submissions, &files);
            if !found.iter().any(|submission| submission.person.is_some() && submission.path.exists()) {
                return Err(anyhow!("no submission in {folder} is named after a student of the list").into());
            }
            found
        }
        None => submissions,
    };
    let tasks = &grading.rubric.tasks;
    let keys: Vec<Sha256> = tasks.iter().map(|graded| key_of_task(grading, graded)).collect();
    let entry = |submission: &Submission, (graded, of_task): (&'a GradedTask, &Sha256)| {
        // A single file is a kernel.
        let is_only = tasks.len() == 1 && graded.task.host.is_none();
        let file = graded.task.copy_file_name();
        let (mut handed, notes) = submission.source(&file, is_only);
        let (ending, language) = if graded.task.is_rust { ("cu", "CUDA C++") } else { ("rs", "Rust") };
        let other = format!("{}.{ending}", graded.task.name);
        if let (SubmittedFile::Missing, (SubmittedFile::Text(_), _)) = (&handed, submission.source(&other, false)) {
            handed = SubmittedFile::Refused(format!("{other} is a kernel in {language}: hand in {file}"));
        }
        let key = match &handed {
            SubmittedFile::Text(source) => Some(key(of_task.clone(), source)),
            _ => None,
        };
        Entry { graded, handed, notes, key }
    };
    let with_entries = |submission| {
        let entries = tasks.iter().zip(&keys).map(|task| entry(&submission, task)).collect();
        (submission, entries)
    };
    Ok(submissions.into_iter().map(with_entries).collect())
}

/// Returns the hash of everything that a verdict on a task depends on, up to the source.
fn key_of_task(grading: &Grading<'_>, graded: &GradedTask) -> Sha256 {
    let parts = serde_json::json!([
        STORED_VERSION,
        grading.tools.version,
        grading.tools.headers,
        graded.task,
        graded.finished,
        grading.starters.get(&graded.task.name.to_string()),
        grading.rubric.seed,
        grading.limits,
        grading.sandbox.is_tight(),
    ]);
    let text = parts.to_string();
    let mut key = Sha256::default();
    key.update(text.strip_suffix(']').unwrap_or_default().as_bytes());
    key
}

/// Returns the hash of everything that a verdict depends on: that of a JSON array, whose last element is the source.
fn key(mut of_task: Sha256, source: &str) -> String {
    of_task.update(format!(",{}]", serde_json::json!(source)).as_bytes());
    of_task.finish()
}

fn judge_all(
    grading: &Grading<'_>, found: &[(Submission, Vec<Entry<'_>>)], part: Option<(usize, usize)>,
    on_progress: OnProgress<'_>,
) -> Result<(), GradingError> {
    let work = work(grading.out);
    std::fs::create_dir_all(&work).map_err(FileError::at(&work))?;
    let mut keys = BTreeSet::new();
    let all: Vec<&Entry<'_>> = found
        .iter()
        .flat_map(|(_, entries)| entries)
        .filter(|entry| entry.key.as_ref().is_some_and(|key| keys.insert(key.clone())))
        .enumerate()
        .filter(|(at, _)| part.is_none_or(|(part, n_parts)| at % n_parts == part))
        .map(|(_, entry)| entry)
        .collect();
    let total = all.len();
    let is_judged = |key: &String| matches!(stored_outcome(grading.out, key), Some(StoredOutcome::Verdict(_)));
    let open: Vec<&Entry<'_>> =
        all.into_iter().filter(|entry| entry.key.as_ref().is_some_and(|key| !is_judged(key))).collect();
    let done = AtomicUsize::new(total - open.len());
    let open = if on_progress(total - open.len(), total) { open } else { Vec::new() };
    let goes_on = |judged: &Result<Judged, FileError>| match judged {
        Ok(Judged::Stored) => on_progress(done.fetch_add(1, Ordering::SeqCst) + 1, total),
        Ok(Judged::Interrupted) | Err(_) => false,
    };
    for judged in parallel::run_on(grading.jobs.max(1), &open, |entry| judge_one(grading, entry), goes_on) {
        judged?;
    }
    let done = done.into_inner();
    if done < total { Err(GradingError::Interrupted { done, total }) } else { Ok(()) }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOutcome {
    Verdict(Box<Verdict>),
    /// Not judged; the next grading tries again.
    Ungraded(String),
}

enum Judged {
    Stored,
    /// Nothing is stored.
    Interrupted,
}

/// Judges a source and stores the outcome. An error concerns the folder for results: failures of one source do not stop
/// the others.
fn judge_one(grading: &Grading<'_>, entry: &Entry<'_>) -> Result<Judged, FileError> {
    let (SubmittedFile::Text(source), Some(key)) = (&entry.handed, &entry.key) else { return Ok(Judged::Stored) };
    let job = work(grading.out).join(format!("{key}.job"));
    let io = FileError::at(&job);
    let remove = || match std::fs::remove_dir_all(&job) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(error)),
        _ => Ok(()),
    };
    // A killed grading leaves the folder behind.
    remove()?;
    std::fs::create_dir_all(&job).map_err(&io)?;
    let job_path = job.canonicalize().map_err(&io)?;
    let unit = Unit {
        tools: grading.tools,
        sandbox: grading.sandbox,
        limits: &grading.limits,
        graded: entry.graded,
        seed: grading.rubric.seed,
        starter: grading.starters.get(&entry.graded.task.name.to_string()).map_or("", String::as_str),
    };
    let judged = catch_unwind(AssertUnwindSafe(|| unit.judge(source, &job_path)));
    let kept = match judged {
        Ok(Ok(verdict)) => StoredOutcome::Verdict(Box::new(verdict)),
        _ if (grading.tools.launcher.interrupted)() => {
            remove()?;
            return Ok(Judged::Interrupted);
        }
        Ok(Err(why)) => StoredOutcome::Ungraded(why.to_string()),
        Err(_) => StoredOutcome::Ungraded("the grader made a mistake: look at this one by hand".into()),
    };
    // Strings, numbers and lists always serialise.
    let text = serde_json::to_string(&kept).expect("plain data");
    let path = file(grading.out, key);
    // Before the result: with it, nothing would come back for the folder.
    remove()?;
    write_whole(&path, &text).map_err(FileError::at(&path))?;
    Ok(Judged::Stored)
}

fn file(out: &Path, key: &str) -> PathBuf {
    work(out).join(format!("{key}.json"))
}

fn stored_outcome(out: &Path, key: &str) -> Option<StoredOutcome> {
    serde_json::from_str(&std::fs::read_to_string(file(out, key)).ok()?).ok()
}

fn collect(grading: &Grading<'_>, found: &[(Submission, Vec<Entry<'_>>)]) -> Result<ClassGrades, GradingError> {
    let rubric = grading.rubric;
    let (mut students, mut codes) = (Vec::new(), Vec::new());
    let mut unknown: BTreeSet<&String> = grading.given.keys().collect();
    for (submission, entries) in found {
        let (mut items, mut verdicts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let is_unlisted = grading.roster.is_some() && submission.person.is_none();
        warnings.extend(submission.notes.first().filter(|_| is_unlisted).cloned());
        // These notes tell how the submission was matched with its owner.
        let mut notes = if grading.anonymous { warnings.clone() } else { submission.notes.clone() };
        for (graded, entry) in rubric.tasks.iter().zip(entries) {
            let verdict = verdict_of(grading, entry);
            let is_refused = verdict.code.as_deref() == Some(code::REFUSED);
            let is_ungraded = verdict.status == Status::NotRun && verdict.code.is_none();
            // A problem of the whole submission is reported for each task.
            let why = verdict.why.clone().filter(|why| (is_refused || is_ungraded) && !warnings.contains(why));
            warnings.extend(why);
            notes.extend(entry.notes.iter().filter(|_| !grading.anonymous).cloned());
            let name = graded.task.name.to_string();
            if let SubmittedFile::Text(source) = &entry.handed {
                // A longer source has other code.
                let is_same = |other: &String| source.len() < 4 * other.len() && edits::are_same_code(source, other);
                if grading.starters.get(&name).is_some_and(is_same) {
                    notes.push(format!("{name}: the code of the starter, unchanged"));
                } else if grading.finished.get(&name).is_some_and(is_same) {
                    notes.push(format!("{name}: the code of the book's kernel, but for comments and spaces"));
                }
            }
            items.extend(score::of_task(graded, &verdict));
            verdicts.push(verdict);
        }
        if !rubric.questions.is_empty() {
            let (answers, trouble) = submission.answers();
            notes.extend(trouble);
            let asked = submission.asked();
            let claimed = answers.get("student");
            if claimed.is_some() && rubric.questions.iter().all(|graded| graded.drawn.is_none()) {
                warnings.push(NOT_DRAWN.to_owned());
            }
            let claimed = claimed.filter(|given| drawn::key(given) != drawn::key(asked));
            if let Some(claimed) = claimed.filter(|_| !grading.anonymous) {
                notes.push(format!(
                    "the file of answers is for the questions of {}, and not of {asked}",
                    crate::plain(claimed)
                ));
            }
            items.extend(rubric.questions.iter().map(|graded| score::of_question(graded, &answers, asked)));
        }
        items.extend(rubric.manual.iter().map(score::of_person));
        let name = shown_name(grading, &submission.student);
        let code = anonymous::code(rubric.seed, &submission.student);
        let given = grading.given.iter().filter(|(of, _)| [&submission.student, &code].contains(of));
        let mut of_student = BTreeMap::new();
        for (of, given) in given {
            unknown.remove(of);
            of_student.extend(given.clone());
        }
        // Points given by hand are not reduced for late days.
        let by_hand = points::give(&of_student, &name, &mut items)?;
        let share = share_in_time(rubric, submission, &mut notes);
        students.push(Student {
            name,
            person: submission.person.clone().filter(|_| !grading.anonymous),
            points: by_hand + share * (items.iter().map(|item| item.points).sum::<f64>() - by_hand),
            items,
            verdicts,
            notes: catalog::distinct(notes),
            warnings,
        });
        codes.extend(grading.anonymous.then(|| [code, submission.student.clone()]));
    }
    if let Some(unknown) = unknown.first() {
        let unknown = crate::plain(unknown);
        return Err(anyhow!("points by hand for `{unknown}`, who is not among the students").into());
    }
    if grading.anonymous {
        // The order of a list would give names away.
        students.sort_by(|a: &Student, b| a.name.cmp(&b.name));
    }
    let (same, similar) = compare(grading, found)?;
    Ok(ClassGrades { format: FORMAT, title: rubric.title.clone(), max: rubric.max(), students, same, similar, codes })
}

/// Returns the name of a student in the grades.
fn shown_name(grading: &Grading<'_>, student: &str) -> String {
    if grading.anonymous { anonymous::code(grading.rubric.seed, student) } else { student.to_owned() }
}

/// Returns the share of the points that a submission keeps for its time, and notes that time and what was lost.
fn share_in_time(rubric: &Rubric, submission: &Submission, notes: &mut Vec<String>) -> f64 {
    const DAY: u64 = 24 * 60 * 60;
    let time = |due| Some((due, submission.time(&rubric.files())?));
    let Some((due, (time, source))) = rubric.due.and_then(time) else { return 1.0 };
    let extension = submission.person.as_ref().and_then(|person| person.extension).unwrap_or(0);
    let late = time.saturating_sub(due + u64::from(extension) * DAY).div_ceil(DAY);
    let share = rubric.late.share(u32::try_from(late).unwrap_or(u32::MAX));
    let days = if late == 1 { "day" } else { "days" };
    let kept = if share < 1.0 { format!(": {:.0} % of the points", 100.0 * share) } else { String::new() };
    let late = if late > 0 { format!(", {late} {days} late{kept}") } else { String::new() };
    notes.push(format!("handed in at {}, by {source}{late}", catalog::time::utc(time)));
    share
}

/// Compares the kernels of each task with each other, with those of earlier submissions, and with the book's.
fn compare(
    grading: &Grading<'_>, found: &[(Submission, Vec<Entry<'_>>)],
) -> Result<(Vec<SameKernel>, Vec<SimilarPair>), FileError> {
    let tasks = &grading.rubric.tasks;
    let (mut same, mut similar) = (Vec::new(), Vec::new());
    let mut earlier: Vec<Submission> = Vec::new();
    for folder in grading.against {
        let year = folder.file_name().unwrap_or_default().to_string_lossy();
        let all = submissions::all(folder).map_err(FileError::at(folder))?;
        let named = |mut submission: Submission| {
            submission.student = format!("{year}/{}", shown_name(grading, &submission.student));
            submission
        };
        earlier.extend(all.into_iter().map(named));
    }
    // Right answers to a task for the host are all alike.
    let kernels = tasks.iter().enumerate();
    for (at, graded) in kernels.filter(|(_, graded)| graded.task.host.is_none()) {
        let name = graded.task.name.to_string();
        let file = graded.task.copy_file_name();
        let starter = grading.starters.get(&name).map_or("", String::as_str);
        // What a team handed in is compared once.
        let mut seen = BTreeSet::new();
        let handed = found.iter().filter(|(by, _)| seen.insert(&by.path));
        let handed = handed.filter_map(|(by, entries)| match &entries.get(at)?.handed {
            SubmittedFile::Text(text) => Some((shown_name(grading, &by.student), Cow::from(text))),
            _ => None,
        });
        let mut all: Vec<(String, Cow<'_, str>)> = handed.collect();
        let n_handed = all.len();
        let is_only = tasks.len() == 1;
        let earlier = earlier.iter().filter_map(|by| match by.source(&file, is_only).0 {
            SubmittedFile::Text(text) => Some((by.student.clone(), Cow::from(text))),
            _ => None,
        });
        let book = grading.finished.get(&name).map(|text| ("the book".to_owned(), Cow::from(text)));
        all.extend(earlier.chain(book));
        let sources = all.iter().enumerate();
        let sources = sources.map(|(at, (name, text))| Source { name, text, is_submission: at < n_handed });
        let sources: Vec<Source<'_>> = sources.collect();
        if grading.moss {
            similar::write_moss(&grading.out.join("moss").join(&name), &file, starter, &sources)?;
        }
        let (same_kernels, pairs) = similar::compare(&name, starter, &sources);
        same.extend(same_kernels);
        similar.extend(pairs);
    }
    Ok((same, similar))
}

/// Returns the verdict on a task: the stored one, or one that says that nothing was handed in.
fn verdict_of(grading: &Grading<'_>, entry: &Entry<'_>) -> Verdict {
    let task = &entry.graded.task;
    let absent = |status: Status, code: Option<&str>, why: &str| {
        let mut verdict = Verdict::stopped(task.name.clone(), &task.criteria, "", why);
        // Nothing was compiled.
        verdict.parts.retain(|part| part.id != part_id::COMPILES);
        verdict.status = status;
        verdict.code = code.map(str::to_owned);
        verdict
    };
    match (&entry.handed, &entry.key) {
        (SubmittedFile::Missing, _) => {
            let why = format!("no {} was handed in", task.copy_file_name());
            absent(Status::NotRun, Some(code::MISSING), &why)
        }
        (SubmittedFile::Refused(why), _) => absent(Status::Failed, Some(code::REFUSED), why),
        (SubmittedFile::Text(_), key) => match key.as_ref().and_then(|key| stored_outcome(grading.out, key)) {
            Some(StoredOutcome::Verdict(verdict)) => *verdict,
            Some(StoredOutcome::Ungraded(why)) => absent(Status::NotRun, None, &why),
            None => absent(Status::NotRun, None, "there is no result"),
        },
    }
}
