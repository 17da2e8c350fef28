//! Somebody in the list of a class, and the names that their submissions have.

use catalog::time;
use serde::{Deserialize, Serialize};
use tasks::drawn::key;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub team: String,
    #[serde(default)]
    pub section: String,
    /// Days after the date that holds for the others.
    pub extension: Option<u32>,
    /// When it was handed in, where a file does not tell: `2026-12-01T17:20:00Z`.
    #[serde(default, skip_serializing)]
    pub submitted: String,
    /// Other names of submissions, separated by semicolons.
    #[serde(default, skip_serializing)]
    pub aliases: String,
}

impl Person {
    /// Returns seconds since 1970, where the list has them.
    pub fn submitted(&self) -> Option<u64> {
        time::seconds(&self.submitted)
    }

    /// Returns the name of the team, as [`key`] makes it.
    pub(crate) fn team_key(&self) -> Option<String> {
        Some(key(&self.team)).filter(|team| !team.is_empty())
    }

    /// Returns the names that a submission of this person may have, as [`key`] makes them.
    pub(crate) fn keys(&self) -> Vec<String> {
        let last_first = self.name.rsplit_once([' ', ',']).map(|(first, last)| format!("{last}{first}"));
        let names = [self.id.as_str(), &self.name, &self.team].into_iter().chain(self.aliases.split(';'));
        names.map(key).chain(last_first.as_deref().map(key)).filter(|key| !key.is_empty()).collect()
    }
}
