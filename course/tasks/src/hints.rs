//! Hints: the choice for the last verdict, and the part of the solution that is shown after all levels.

use crate::diff;
use crate::markers;
use crate::task::Task;

/// The hint that fits a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintChoice<'a> {
    /// Code of a verdict, or empty for the general hint.
    pub symptom: &'a str,
    /// Nudge, concept, pseudo-code; empty where the task has no hint.
    pub levels: &'a [String],
}

/// Returns the hint for the code of a verdict, or else the general one.
pub fn choose<'a>(task: &'a Task, code: Option<&str>) -> HintChoice<'a> {
    let hint_for = |symptom: &str| task.hints.iter().find(|hint| hint.symptom == symptom);
    let special = code.filter(|code| !code.is_empty()).and_then(hint_for);
    match special.or_else(|| hint_for("")) {
        Some(hint) => HintChoice { symptom: &hint.symptom, levels: &hint.levels },
        None => HintChoice { symptom: "", levels: &[] },
    }
}

/// Longest part that no marker delimits, in lines.
const MAX_LINES: usize = 12;

/// A part of the finished kernel that a copy lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Description of the missing part; empty where the solution has no markers.
    pub todo: String,
    pub text: String,
}

/// Returns the first part of the finished kernel that the copy lacks at this position: a marked region or, in a
/// solution without markers, the first missing lines. `solution` includes its markers. `None` when the copy has every
/// part.
pub fn hunk(solution: &str, copy: &str) -> Option<Hunk> {
    let finished = markers::finished(solution);
    let plain = |text: &str| {
        let lines: Vec<String> = text.lines().map(code_of).collect();
        lines.join("\n")
    };
    let missing = diff::missing(&plain(&finished), &plain(copy));
    let lines: Vec<&str> = finished.lines().collect();
    let is_missing = |at: usize| missing.get(at) == Some(&true) && !code_of(lines[at]).is_empty();
    let regions = markers::regions(solution);
    if !regions.is_empty() {
        let found = regions.into_iter().find(|region| region.lines.clone().any(is_missing))?;
        return Some(Hunk { todo: found.todo, text: block(&lines[found.lines]) });
    }
    let first = (0..lines.len()).find(|at| is_missing(*at))?;
    // Comments and blank lines belong to the code after them.
    let more = |at: &usize| is_missing(*at) || code_of(lines[*at]).is_empty();
    let mut end = (first..lines.len().min(first + MAX_LINES)).take_while(more).count() + first;
    while end > first + 1 && code_of(lines[end - 1]).is_empty() {
        end -= 1;
    }
    Some(Hunk { todo: String::new(), text: block(&lines[first..end]) })
}

fn block(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the code of a line, without its comment and with white space normalised.
fn code_of(line: &str) -> String {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Catalogue;

    #[test]
    fn the_code_of_a_verdict_chooses() {
        let catalogue = Catalogue::parse(include_str!("task/example.toml"), "v05", "tasks.toml").expect("a catalogue");
        let chosen = |code| {
            let chosen = choose(&catalogue.tasks[0], code);
            (chosen.symptom, chosen.levels.len())
        };
        assert_eq!(chosen(Some("no-excess")), ("no-excess", 3));
        assert_eq!(chosen(Some("E-OOB")), ("", 1));
        assert_eq!(chosen(None), ("", 1));
    }

    const SOLUTION: &str = "void f()\n{\n    load();\n    // SOLUTION(v05): wait\n    __syncthreads();  // one\n    \
                            // SOLUTION_END\n    // ANCHOR: x\n    use();\n    // ANCHOR_END: x\n    \
                            // SOLUTION(v05): wait again\n    __syncthreads();  // two\n    // SOLUTION_END\n}\n";

    #[track_caller]
    fn todo(copy: &str) -> Option<String> {
        hunk(SOLUTION, copy).map(|hunk| hunk.todo)
    }

    #[test]
    fn the_region_that_a_copy_lacks_is_shown() {
        assert_eq!(
            hunk(SOLUTION, "void f()\n{\n    load();\n    use();\n}\n"),
            Some(Hunk { todo: "wait".into(), text: "    __syncthreads();  // one\n".into() })
        );
        // An equal line elsewhere does not fill the gap.
        let first = "void f()\n{\n  load();\n  __syncthreads();\n  use();\n}\n";
        assert_eq!(todo(first), Some("wait again".into()));
        let both = "void f()\n{\n  load();\n  __syncthreads();\n  use(); // now\n  __syncthreads();\n}\n";
        assert_eq!(todo(both), None);
    }

    #[test]
    fn without_markers_the_first_missing_lines_are_shown() {
        let solution = "#include \"common.cuh\"\n// what\nvoid f()\n{\n    a();\n\n    b();\n}\n";
        let found = hunk(solution, "#include \"common.cuh\"\nvoid f()\n{\n}\n").expect("a hunk");
        assert_eq!(found.text, "    a();\n\n    b();\n");
        assert_eq!(hunk(solution, solution), None);
        let long: String = (0..40).map(|n| format!("line{n}();\n")).collect();
        assert_eq!(hunk(&long, "").expect("a hunk").text.lines().count(), MAX_LINES);
    }
}
