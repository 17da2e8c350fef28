//! Scripts for Slurm: a job array that judges the parts, and a job after it that makes the reports.
//!
//! The parts share the folder for results, and each result lies under its key, so there is nothing to merge: the last
//! job grades again, finds the results, and judges the remainder of parts that failed.

#[cfg(test)]
mod tests;

use std::path::Path;

use catalog::text::shell_word;

#[derive(Debug, Clone)]
pub struct Jobs<'a> {
    /// Program and arguments, with absolute paths.
    pub command: &'a [String],
    pub variables: &'a [(String, String)],
    /// Working directory.
    pub folder: &'a Path,
    /// Folder for scripts and logs.
    pub scripts: &'a Path,
    pub parts: usize,
}

impl Jobs<'_> {
    pub fn part(&self) -> String {
        let last = self.parts.max(1) - 1;
        format!(
            "#!/bin/sh\n#SBATCH --job-name=grade\n#SBATCH --array=0-{last}\n#SBATCH --ntasks=1\n#SBATCH \
             --cpus-per-task=1\n{}exec {} --jobs 1 --part \"$SLURM_ARRAY_TASK_ID/{}\"\n",
            self.head(),
            shell_words(self.command),
            self.parts
        )
    }

    /// Returns the script of the job after them.
    pub fn reports(&self) -> String {
        format!(
            "#!/bin/sh\n#SBATCH --job-name=grade-reports\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n{}exec {} --jobs \
             1\n",
            self.head(),
            shell_words(self.command)
        )
    }

    pub fn submit(&self) -> String {
        let file = |name: &str| shell_word(&self.scripts.join(name).to_string_lossy());
        format!(
            "#!/bin/sh\n# Submits the parts, and after them the reports. Arguments go to both, as --partition=short.\nset \
             -eu\nparts=$(sbatch --parsable --output={} \"$@\" {})\nsbatch --parsable --output={} \
             --dependency=\"afterany:${{parts%%;*}}\" \"$@\" {}\n",
            file("part-%a.log"),
            file("part.sh"),
            file("reports.log"),
            file("reports.sh"),
        )
    }

    fn head(&self) -> String {
        let mut out = format!("set -eu\ncd {}\n", shell_word(&self.folder.to_string_lossy()));
        out.extend(self.variables.iter().map(|(name, value)| format!("export {name}={}\n", shell_word(value))));
        out
    }
}

fn shell_words(all: &[String]) -> String {
    all.iter().map(|text| shell_word(text)).collect::<Vec<_>>().join(" ")
}
