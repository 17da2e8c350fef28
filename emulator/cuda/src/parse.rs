//! A source to its tree.

use std::collections::HashSet;

use crate::grammar;
use crate::message::{Message, Severity};
use crate::preprocess::{Preprocessed, preprocess};
use crate::source::{Input, Sources};
use crate::tree::Unit;

/// Errors, and warnings, that are worth reading; the others mostly follow from them.
const MAX_MESSAGES: usize = 20;

/// Returns the tree of a source and its headers, and what is wrong with it.
///
/// With a message that is not a warning the tree is not complete.
pub fn parse(input: Input) -> (Unit, Sources, Vec<Message>) {
    let Preprocessed { tokens, sources, mut messages, is_stopped } = preprocess(&input);
    let unit = if is_stopped { Unit::default() } else { grammar::parse(&tokens, &mut messages) };
    let place = |message: &Message| sources.place(message.span);
    messages.sort_by_key(|message| (place(message).file, place(message).line));
    // Of the errors in a line, the first: the others mostly follow from it.
    messages.dedup_by(|later, first| {
        let is_same_line = (place(later).file, place(later).line) == (place(first).file, place(first).line);
        is_same_line && (first.severity != Severity::Warning || later == first)
    });
    // A construct that is refused is named once.
    let mut refused = HashSet::new();
    messages.retain(|message| message.severity != Severity::Unsupported || refused.insert(message.text.clone()));
    let (mut errors, mut warnings) = (0, 0);
    messages.retain(|message| {
        let count = if message.severity == Severity::Warning { &mut warnings } else { &mut errors };
        *count += 1;
        *count <= MAX_MESSAGES
    });
    (unit, sources, messages)
}
