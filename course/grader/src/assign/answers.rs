//! Starters of an assignment that show the answers of its other tasks.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use catalog::files::FileError;
use tasks::{TaskName, markers, shown};

use super::AssignedTask;

/// Takes out of each starter what the other tasks ask for, as far as the catalogues say so.
pub(super) fn leave_out(given: &mut [AssignedTask]) -> Result<()> {
    let names: Vec<TaskName> = given.iter().map(|given| given.task.name.clone()).collect();
    for AssignedTask { task, starter, .. } in given {
        let others: Vec<&TaskName> = names.iter().filter(|name| **name != task.name).collect();
        let why = "its starter does not have these lines, which its catalogue says it shows";
        *starter = shown::left_out(starter, &task.shows, &others)
            .map_err(|part| anyhow!("{}: {why}:\n{}", task.name, part.lines))?;
    }
    Ok(())
}

/// Refuses a set in which starters still have the lines that another task asks for.
pub(super) fn refuse(root: &Path, given: &[AssignedTask]) -> Result<()> {
    // A kernel that is written from its signature shares much with any other one; the idea of its step is left out.
    for one in given.iter().filter(|given| given.task.has_starter && given.task.host.is_none()) {
        let (task, path) = (&one.task.name, &one.task.solution);
        let finished = std::fs::read_to_string(root.join(path)).map_err(FileError::at(path))?;
        let finished = markers::finished(&finished);
        let others: Vec<&AssignedTask> = given.iter().filter(|other| other.task.name != *task).collect();
        for others in others.chunks(1).chain([&others[..]]) {
            let texts: Vec<&str> = others.iter().map(|other| other.starter.as_str()).collect();
            if let Some((n, of)) = shown::answers(&finished, &one.starter, &texts) {
                let names: Vec<String> = others.iter().map(|other| other.task.name.to_string()).collect();
                let which = format!("{n} of the {of} lines that {task} asks for");
                let others = names.join(" and ");
                bail!("the starters of {others} have {which}: assign {task} in a repository of its own");
            }
        }
    }
    Ok(())
}
