//! Names of tasks: `v05` for the rebuild task of a step, `v05.wide` for a transfer task.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName {
    /// Id of the step, such as `v05`.
    pub step: String,
    /// Id of a transfer task, such as `wide`; none for the rebuild task.
    pub id: Option<String>,
}

impl TaskName {
    pub fn rebuild(step: &str) -> Self {
        Self { step: step.to_owned(), id: None }
    }

    pub fn transfer(step: &str, id: &str) -> Self {
        Self { step: step.to_owned(), id: Some(id.to_owned()) }
    }

    /// Parses a name on the command line: the step by its number, id or name, then optionally a dot and the task's id.
    pub fn parse(asked: &str) -> Result<Self, catalog::UnknownStep> {
        let (step, id) = asked.split_once('.').map_or((asked, None), |(step, id)| (step, Some(id.to_owned())));
        let step = catalog::find(step)?.id.to_owned();
        Ok(Self { step, id })
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "{}.{id}", self.step),
            None => f.write_str(&self.step),
        }
    }
}

impl TryFrom<String> for TaskName {
    type Error = catalog::UnknownStep;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_called_as_their_steps() {
        let name = |asked| TaskName::parse(asked).map(|name| name.to_string());
        assert_eq!(name("5.wide"), Ok("v05.wide".into()));
        assert_eq!(name("bank-conflict-free"), Ok("v05".into()));
        assert!(name("v77").is_err());
    }
}
