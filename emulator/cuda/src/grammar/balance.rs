//! Pairs of brackets. An unpaired one is found by indentation, as a person finds it.

use crate::lex::{Kind, Token};
use crate::message::Message;
use crate::source::Span;

use super::MAX_DEPTH;

struct Open {
    /// Index of the bracket.
    at: usize,
    /// Column where its line begins.
    indent: u32,
    semicolons: usize,
}

fn partner_of(bracket: &str) -> &'static str {
    let pairs = ["()", "[]", "{}"];
    let pair = pairs.iter().find(|pair| pair.contains(bracket) && !bracket.is_empty());
    pair.map_or("", |pair| if pair.starts_with(bracket) { &pair[1..] } else { &pair[..1] })
}

/// Returns the tokens with round and square brackets repaired, and the index of each bracket's partner.
///
/// Nothing is returned where a brace is missing or left over, or brackets nest too deep: what follows would be noise.
pub(super) fn balance(tokens: &[Token], messages: &mut Vec<Message>) -> Option<(Vec<Token>, Vec<u32>)> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut partners: Vec<u32> = Vec::with_capacity(tokens.len());
    let mut stack: Vec<Open> = Vec::new();
    // A pair whose closing brace is indented unlike the line of its opening one: too far left, too far right.
    let (mut left, mut right) = (None, None);
    let mut indent = 0;
    for (index, token) in tokens.iter().enumerate() {
        if token.is_first_on_line {
            indent = token.column;
        }
        while let Some(open) = stack.last_mut() {
            if !ends_bracket(open, &out, &tokens[index..]) {
                break;
            }
            let bracket = &out[open.at];
            let close = partner_of(&bracket.text);
            let last = out[out.len() - 1].span;
            let end = Span { start: last.end, ..last };
            let message = Message::error(bracket.span, format!("this `{}` is not closed", bracket.text));
            messages.push(message.label("unclosed").note(end, format!("help: `{close}` is missing here, or before")));
            partners[open.at] = out.len() as u32;
            partners.push(open.at as u32);
            out.push(Token { text: close.into(), kind: Kind::Punct, span: end, ..token.clone() });
            stack.pop();
        }
        partners.push(out.len() as u32);
        if token.is_any("( [ {") {
            if stack.len() == MAX_DEPTH {
                messages.push(Message::error(token.span, format!("brackets nest more than {MAX_DEPTH} deep")));
                return None;
            }
            stack.push(Open { at: out.len(), indent, semicolons: 0 });
        }
        if !token.is_any(") ] }") {
            out.push(token.clone());
            continue;
        }
        let closes_nothing = Message::error(token.span, format!("this `{}` closes nothing", token.text));
        let closes_nothing = closes_nothing.label("unexpected");
        let Some(open) = stack.last().filter(|open| !out[open.at].is("{") || token.is("}")) else {
            partners.pop();
            let Some((open, close)) = right.filter(|_| token.is("}")) else {
                messages.push(closes_nothing);
                if token.is("}") {
                    return None;
                }
                continue;
            };
            let message = Message::error(close, "this `}` is one too many, or not in its place")
                .label("closes more than its indentation says");
            let message = message.note(open, "it closes this `{`");
            messages.push(message.note(token.span, "so that nothing is left for this `}`"));
            return None;
        };
        let bracket = &out[open.at];
        let close = partner_of(&bracket.text);
        if !token.is(close) {
            let text = format!("this `{}` does not fit the `{}` before", token.text, bracket.text);
            let message = Message::error(token.span, text).label(format!("help: write `{close}`"));
            messages.push(message.note(bracket.span, "opened here"));
        }
        if token.is("}") && token.is_first_on_line && token.column != open.indent {
            let pair = if token.column < open.indent { &mut left } else { &mut right };
            pair.get_or_insert((bracket.span, token.span));
        }
        partners[open.at] = out.len() as u32;
        partners[out.len()] = open.at as u32;
        out.push(Token { text: close.into(), ..token.clone() });
        stack.pop();
    }
    let Some(open) = stack.last() else { return Some((out, partners)) };
    let message = |span| Message::error(span, "this `{` is not closed").label("unclosed");
    messages.push(match left {
        Some((open, close)) => {
            message(open).note(close, "by its indentation, this `}` closes something else: a `}` is missing before")
        }
        None => message(out[open.at].span),
    });
    None
}

/// Returns whether an open bracket must have ended before the first of `tokens`.
fn ends_bracket(open: &mut Open, out: &[Token], tokens: &[Token]) -> bool {
    let (bracket, token) = (&out[open.at], &tokens[0]);
    let before = open.at.checked_sub(1).map(|at| &out[at]);
    if bracket.is("{") {
        return false;
    }
    match &*token.text {
        // Rust's `[0.0; 8]`, and `if (int old = f(x); old > 0)`.
        ";" if (bracket.is("[") || before.is_some_and(|before| before.is_any("if switch"))) => {
            !closes_on_line(&tokens[1..])
        }
        ";" => {
            open.semicolons += 1;
            let is_for = before.is_some_and(|before| before.is("for"));
            !is_for || open.semicolons > 2 && !tokens[1].is(")")
        }
        "}" => token.kind == Kind::Punct,
        "{" => starts_body(out, open.at),
        _ => token.kind == Kind::End,
    }
}

/// Returns whether the bracket around the first of `tokens` is closed on the same line.
fn closes_on_line(tokens: &[Token]) -> bool {
    let mut depth = 0;
    let mut line = tokens.iter().take_while(|token| !token.is_first_on_line && !token.is("{"));
    line.any(|token| {
        depth += i32::from(token.is_any("( [")) - i32::from(token.is_any(") ]"));
        depth < 0
    })
}

/// Returns whether a `{` behind `out` starts the body of the statement or function whose `(` is at `open`.
fn starts_body(out: &[Token], open: usize) -> bool {
    let Some(before) = open.checked_sub(1).map(|at| &out[at]) else { return false };
    let is_index = |at: usize| out[at - 1].kind != Kind::Punct || out[at - 1].is("]");
    let has_lambda = (open..out.len()).any(|at| out[at].is("[") && !is_index(at));
    // `T{…}` and `{…}` are values inside of parentheses; a body follows `)` or the end of a condition.
    let last = &out[out.len() - 1];
    let ends_value = !last.is_any("( , =") && (last.kind != Kind::Word || last.has_space_before);
    let is_function = before.kind == Kind::Word && open > 1 && out[open - 2].is("void");
    !has_lambda && (is_function || before.is_any("if for while switch") && ends_value)
}
