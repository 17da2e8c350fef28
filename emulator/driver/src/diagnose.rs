//! Messages on stderr: findings, refusals, unsupported calls.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock};

use diagnostics::{Finding, HostWarning};
use simt::check::{Code, Severity};

use crate::result::*;
use crate::sync::lock;

pub(crate) fn print_line(message: &str) {
    write(&format!("libnvcuda (emulated GPU): {}\n", clip(message)));
}

/// Cuts a message to a readable length: names in it can be as long as a module.
fn clip(message: &str) -> &str {
    message.char_indices().nth(1 << 14).map_or(message, |(end, _)| &message[..end])
}

/// Prints as [`print_line`] does, but each message once per process.
pub(crate) fn print_once(message: &str) {
    if first_time(message) {
        print_line(message);
    }
}

fn first_time(message: &str) -> bool {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = lock(&PRINTED);
    // The set is bounded, so that endless or very long new messages do not fill memory.
    printed.len() < 1000 && printed.insert(clip(message).to_owned())
}

fn write(text: &str) {
    // Stderr may be closed.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn coloured() -> bool {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    *COLOURED
        .get_or_init(|| std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()))
}

/// Prints the findings of a launch. Warnings are printed once per process, however often their kernel is launched.
pub(crate) fn findings(findings: &[Finding]) {
    let mut text = String::new();
    for finding in findings {
        if finding.severity == Severity::Warning && !first_time(&finding.text) {
            continue;
        }
        text.push_str(&paint(finding, coloured()));
        text.push('\n');
        if !finding.text.ends_with('\n') {
            text.push('\n');
        }
    }
    if !text.is_empty() {
        write(&text);
    }
}

/// Prints a warning about the host's code, once per process.
pub(crate) fn warning(warning: &HostWarning<'_>) {
    let text = warning.text();
    if first_time(&text) {
        write(&format!("{}\n", paint_text(&text, "33", coloured())));
    }
}

/// Prints a warning about the host's code, the first one with its code.
pub(crate) fn warning_once(one: &HostWarning<'_>) {
    if first_time(one.code) {
        warning(one);
    }
}

pub(crate) fn refusal(finding: &Finding) {
    if first_time(&finding.text) {
        write(&format!("{}\n\n", paint(finding, coloured())));
    }
}

fn paint(finding: &Finding, coloured: bool) -> String {
    let colour = if finding.severity == Severity::Error { "31" } else { "33" };
    paint_text(&finding.text, colour, coloured)
}

/// Paints the head of a message (`error[E-OOB]`) in bold red or yellow.
fn paint_text(text: &str, colour: &str, coloured: bool) -> String {
    let end = text.find(']').map(|at| at + 1);
    match end.filter(|_| coloured) {
        Some(end) if text.starts_with("error[") || text.starts_with("warning[") => {
            let (head, rest) = text.split_at(end);
            format!("\x1b[1;{colour}m{head}\x1b[0m{rest}")
        }
        _ => text.to_owned(),
    }
}

/// Returns the error code of a real driver for a finding. Where hardware would notice nothing (a race, a read of
/// uninitialised memory), it is that of an unspecified failure: a program must not go on with such results.
pub(crate) fn code_of(code: Code) -> CUresult {
    match code {
        Code::OutOfBounds | Code::UseAfterFree | Code::ReadOnly | Code::Stack => ERROR_ILLEGAL_ADDRESS,
        Code::Misaligned => ERROR_MISALIGNED_ADDRESS,
        Code::Runaway => ERROR_LAUNCH_TIMEOUT,
        Code::Assert => ERROR_ASSERT,
        Code::Operand | Code::TensorCopy => ERROR_ILLEGAL_INSTRUCTION,
        Code::Call => ERROR_INVALID_PC,
        _ => ERROR_LAUNCH_FAILED,
    }
}

/// Prints a call and its result if `TILE_TRACE=1`.
pub(crate) fn trace(name: &str, code: CUresult) {
    static ON: OnceLock<bool> = OnceLock::new();
    if *ON.get_or_init(|| std::env::var_os("TILE_TRACE").is_some_and(|v| !v.is_empty() && v != "0")) {
        let meaning = describe(code).map_or("?", |d| d.0.to_str().unwrap_or("?"));
        write(&format!("{name}: {meaning}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_the_head_only() {
        let text = "error[E-OOB]: read past `a[9]`";
        assert_eq!(paint_text(text, "31", true), "\x1b[1;31merror[E-OOB]\x1b[0m: read past `a[9]`");
        assert_eq!(paint_text(text, "31", false), text);
        assert_eq!(paint_text("a[9] is no head", "31", true), "a[9] is no head");
    }

    #[test]
    fn faults_have_the_codes_of_hardware() {
        assert_eq!(code_of(Code::Misaligned), ERROR_MISALIGNED_ADDRESS);
        assert_eq!(code_of(Code::Race), ERROR_LAUNCH_FAILED);
    }
}
