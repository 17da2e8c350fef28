//! The list of a class: who is in it, in which team and section, and how many more days somebody has.
//!
//! ```csv
//! id,name,team,section,extension,submitted,aliases
//! ada,Ada Lovelace,,1,2,,
//! bob,Bob Noyce,red,2,,2026-12-01T17:20:00Z,noyceb;rnoyce
//! ```
//!
//! Only `id` is needed, and other columns are named in a note. Semicolons may stand for the commas. A submission is a
//! person's, or that of a team, if its name is theirs: as written here, with the last name first, or as Canvas
//! (`lovelaceada_123_456_v02.cu`) and Moodle (`Ada Lovelace_123_assignsubmission_file_`) make it.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tasks::drawn::key;

use crate::person::Person;
use crate::submissions::{self, Submission};

/// Columns of a list, the fields of a [`Person`].
const COLUMNS: [&str; 7] = ["id", "name", "team", "section", "extension", "submitted", "aliases"];
/// Start of the note on submissions that a later one replaces.
pub const EARLIER: &str = "handed in earlier, and not graded: ";

/// Reads a list, and returns notes on how it was read; `file` is its path in errors.
pub fn parse(bytes: Vec<u8>, file: &str) -> Result<(Vec<Person>, Vec<String>)> {
    let encoding = || format!("{file}: neither UTF-8 nor Latin-1: save the list as CSV in UTF-8");
    let (text, note) = submissions::decoded(bytes).with_context(encoding)?;
    let first = text.lines().next().unwrap_or_default();
    // Spreadsheets write semicolons where the comma is the decimal sign.
    let delimiter = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(text.as_bytes());
    let table = |why: csv::Error| anyhow!("{file}: {why}");
    let columns = reader.headers().map_err(table)?;
    if !columns.is_empty() && !columns.iter().any(|column| column == "id") {
        let columns = crate::plain(&columns.iter().collect::<Vec<_>>().join(", "));
        bail!("{file}: the first line names the columns {columns}; one must be `id`, in small letters");
    }
    let unused: Vec<&str> = columns.iter().filter(|column| !COLUMNS.contains(column)).collect();
    let unused =
        (!unused.is_empty()).then(|| format!("has columns that are not used: {}", crate::plain(&unused.join(", "))));
    let notes = note.filter(|_| !text.is_ascii()).map(str::to_owned).into_iter().chain(unused);
    let notes = notes.map(|note| format!("{file} {note}")).collect();
    let people: Result<Vec<Person>, csv::Error> = reader.deserialize().collect();
    // Spreadsheets keep rows that were emptied.
    let people: Vec<Person> =
        people.map_err(table)?.into_iter().filter(|person| *person != Person::default()).collect();
    let mut seen = BTreeSet::new();
    for person in &people {
        let id = key(&person.id);
        let why = if id.is_empty() {
            "the id has neither letters nor digits"
        } else if !seen.insert(id) {
            "it is listed twice, apart from case and signs"
        } else if !person.submitted.is_empty() && person.submitted().is_none() {
            "`submitted` must be a time in UTC, such as 2026-12-01T17:20:00Z"
        } else {
            continue;
        };
        bail!("{file}: {}: {why}", crate::plain(&person.id));
    }
    let columns = "the first line names the columns, and one of them is `id`";
    ensure!(!people.is_empty(), "{file}: nobody is in it; {columns}");
    Ok((people, notes))
}

/// Gives each person of a list a submission: the last one that has their name, or that of their team or of somebody in
/// it, or none. Submissions of nobody in the list follow, with a note. `files` are those of the tasks.
pub fn match_submissions(people: &[Person], submissions: Vec<Submission>, files: &[String]) -> Vec<Submission> {
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, key) in
        people.iter().enumerate().flat_map(|(at, person)| person.keys().into_iter().map(move |key| (at, key)))
    {
        named.entry(key).or_default().push(at);
    }
    let mut found: Vec<Vec<&Submission>> = vec![Vec::new(); people.len()];
    let mut others = Vec::new();
    for submission in &submissions {
        let names = names(&submission.student);
        let owners: BTreeSet<usize> = names.iter().filter_map(|name| named.get(name)).flatten().copied().collect();
        // Two of one name are not taken for each other; a team is several.
        let is_of_team = |at: &usize| people[*at].team_key().is_some_and(|team| names.contains(&team));
        let why = match owners.len() {
            0 => Some("nobody in the list has this name"),
            1 => None,
            _ if owners.iter().all(is_of_team) => None,
            _ => Some("several in the list have this name"),
        };
        match why {
            None => owners.into_iter().for_each(|at| found[at].push(submission)),
            Some(why) => others.push(Submission { notes: vec![why.to_owned()], ..submission.clone() }),
        }
    }
    // A submission by one member counts for the whole team; if there are several, the last one counts.
    let mut teams: HashMap<String, Vec<&Submission>> = HashMap::new();
    for (person, own) in people.iter().zip(&found) {
        person.team_key().into_iter().for_each(|team| teams.entry(team).or_default().extend(own));
    }
    let last_first = |all: &mut Vec<&Submission>| {
        if all.len() > 1 {
            all.sort_by_cached_key(|submission| (Reverse(submission.time(files)), &submission.student));
            all.dedup_by_key(|submission| &submission.path);
        }
    };
    found.iter_mut().chain(teams.values_mut()).for_each(last_first);
    let of_person = |(person, own): (&Person, &Vec<&Submission>)| {
        let all = person.team_key().and_then(|team| teams.get(&team)).unwrap_or(own);
        let mut submission = all.first().map_or_else(Submission::absent, |first| (*first).clone());
        if let [first, more @ ..] = &all[..] {
            submission.notes.extend((first.student != person.id).then(|| format!("handed in as {}", first.student)));
            let more: Vec<&str> = more.iter().map(|other| other.student.as_str()).collect();
            let earlier = format!("{EARLIER}{}", more.join(", "));
            submission.notes.extend((!more.is_empty()).then_some(earlier));
        }
        Submission { student: person.id.clone(), person: Some(person.clone()), ..submission }
    };
    people.iter().zip(&found).map(of_person).chain(others).collect()
}

/// Returns candidate student keys: the whole name of a submission, and the part before a Canvas or Moodle number.
fn names(submission: &str) -> Vec<String> {
    let before = submission.split_once('_').filter(|(_, rest)| rest.split('_').any(submissions::is_number));
    [submission].into_iter().chain(before.map(|(name, _)| name)).map(key).collect()
}
