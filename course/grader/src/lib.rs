//! For instructors: grades submissions in a sandbox, and writes the grades in the formats that course systems read.
//!
//! - [`report`]: which students are stuck on which task, from the progress files of a class.
//! - [`rubric`]: which tasks and questions, for how many points.
//! - [`slurm`]: a job array that grades on several machines.
//! - [`submissions`]: reads what students handed in; links are not followed, and large files are not read.
//! - [`sandbox`]: starts a program that can reach nothing outside its folder; [`confine`]: the limits that the started
//!   process sets for itself.
//! - [`mod@unit`]: compiles and judges one task of one submission.
//! - [`grade`]: grades all submissions, in parallel; results are kept by key, so that a grading that was stopped can be
//!   continued.
//! - [`score`][]: computes the points of a submission.
//! - [`similar`]: which submissions have passages in common.
//! - [`assign`]: writes a starter repository without solutions.
//! - [`formats`]: Gradescope, Exercism, JUnit, CSV, HTML.
//!
//! This crate runs no kernel and links no compiler: it starts `judge` and the compiler as processes.

#![deny(unsafe_code)]

pub mod assign;
#[cfg(unix)]
#[expect(unsafe_code, reason = "limits of a process")]
pub mod confine;
pub mod formats;
pub mod grade;
pub mod report;
pub mod rubric;
pub mod sandbox;
pub mod score;
pub mod similar;
pub mod slurm;
pub mod submissions;
pub mod unit;

/// Text of a stranger in one line for a terminal or a table: without control characters, and not endless.
pub fn plain(text: &str) -> String {
    const MOST: usize = 300;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut out: String = text.chars().take(MOST).map(clean).collect();
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}

/// A name of a file or folder for any text: different for different texts.
pub fn file_name(text: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@+".contains(c);
    let is_plain = text.chars().all(plain)
        && !text.starts_with('.')
        && !text.is_empty()
        && text.len() <= MOST
        && text.to_ascii_lowercase() == text;
    if is_plain {
        return text.to_owned();
    }
    let kept: String = text
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(MOST)
        .collect();
    let hash = catalog::provenance::sha256(text.as_bytes());
    format!("{}~{}", kept.trim_start_matches('.'), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_different() {
        assert_eq!(file_name("ada"), "ada");
        for odd in ["../x", "", ".", "a/b", "Ada", "\u{1b}[31m", "ä"] {
            let name = file_name(odd);
            assert!(
                !name.contains('/') && !name.starts_with('.') && name.contains('~'),
                "{name}"
            );
        }
        assert_ne!(file_name("a/b"), file_name("a:b"));
    }

    #[test]
    fn a_line_has_no_control_characters() {
        assert_eq!(plain("a\u{1b}[31m\nb"), "a [31m b");
        assert_eq!(plain(&"x".repeat(301)).chars().count(), 301);
    }
}
