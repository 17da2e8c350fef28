//! The preprocessor: directives and macros.
//!
//! It is the only part that reads headers. Their number and depth, and the tokens that macros expand to, are limited.

mod expand;
mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::grammar;
use crate::lex::{self, Kind, Texts, Token, one_of};
use crate::message::Message;
use crate::source::{File, Input, Sources, Span};
use crate::suggest::suggest;

/// Bytes of a source or header.
const MAX_BYTES: usize = 1 << 20;
/// Tokens of all files and expansions together.
const MAX_TOKENS: usize = 1 << 18;
/// Headers in headers, and groups of `#if` in one another.
const MAX_NESTING: usize = 32;
/// Headers of which everything that is known here is built in.
const BUILT_IN: &str = "cstdint stdint.h cstddef stddef.h cmath math.h climits limits.h cfloat float.h cstdio \
    stdio.h cstdlib stdlib.h cassert assert.h cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h \
    device_functions.h vector_types.h";

const DIRECTIVES: &str = "define undef include if ifdef ifndef elif else endif error warning pragma line";

const PREDEFINED: &str = "#define __CUDACC__ 1\n#define __CUDACC_RTC__ 1\n#define __CUDA_ARCH__ 750\n\
    #define __cplusplus 201703L\n#define NULL 0\n#define INT_MAX 2147483647\n#define INT_MIN (-2147483647 - 1)\n\
    #define UINT_MAX 4294967295u\n#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n\
    #define FLT_EPSILON 1.192092896e-07f\n#define INFINITY __int_as_float(0x7f800000)\n";

pub(crate) struct Preprocessed {
    /// The last is of kind [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    pub(crate) sources: Sources,
    pub(crate) messages: Vec<Message>,
    /// True if there were more tokens.
    pub(crate) is_stopped: bool,
}

pub(crate) fn preprocess(input: &Input) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        headers: input.headers,
        sources: Sources::default(),
        messages: Vec::new(),
        macros: HashMap::new(),
        once: HashSet::new(),
        active: Vec::new(),
        out: Vec::new(),
        texts: Texts::default(),
        left: MAX_TOKENS,
        argument_depth: 0,
        is_stopped: false,
    };
    preprocessor.sources.files.push(File::new(input.name, input.text));
    // The names that compilers define have no file of their own: their places are never shown.
    preprocessor.text(PREDEFINED, 0, 0);
    preprocessor.file(0, 0);
    let end = Span { file: 0, start: input.text.len() as u32, end: input.text.len() as u32 };
    let mut tokens = preprocessor.out;
    tokens.push(Token { is_first_on_line: true, ..Token::new(Kind::End, "".into(), end) });
    let Preprocessor { sources, messages, is_stopped, .. } = preprocessor;
    Preprocessed { tokens, sources, messages, is_stopped }
}

struct Macro {
    /// `None`: an object-like macro.
    parameters: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
}

/// A group of `#if`.
struct Group {
    start: Span,
    is_active: bool,
    /// True if this branch or one before is taken, or none may be.
    is_decided: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    headers: &'a [(String, String)],
    sources: Sources,
    messages: Vec<Message>,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Headers with `#pragma once`.
    once: HashSet<u16>,
    /// Macros whose expansion is being read.
    active: Vec<Rc<str>>,
    out: Vec<Token>,
    texts: Texts,
    /// Tokens that may still be made.
    left: usize,
    argument_depth: usize,
    is_stopped: bool,
}

impl Preprocessor<'_> {
    fn error(&mut self, span: Span, text: impl Into<String>) {
        if !self.is_stopped {
            self.messages.push(Message::error(span, text));
        }
    }

    /// Counts tokens; returns whether there may be so many.
    fn spend(&mut self, tokens: usize, span: Span) -> bool {
        if self.left < tokens {
            self.stop(span, format!("the source expands to more than {MAX_TOKENS} tokens"));
        }
        self.left = self.left.saturating_sub(tokens);
        !self.is_stopped
    }

    /// Reports what ends the work at once.
    fn stop(&mut self, span: Span, text: String) {
        self.error(span, text);
        self.is_stopped = true;
    }

    fn file(&mut self, file: u16, depth: usize) {
        let text = self.sources.files[usize::from(file)].text.clone();
        if text.len() > MAX_BYTES {
            return self.stop(Span { file, start: 0, end: 0 }, format!("the file has more than {MAX_BYTES} bytes"));
        }
        self.text(&text, file, depth);
    }

    fn text(&mut self, text: &str, file: u16, depth: usize) {
        let tokens = lex::lex(text, file, &mut self.texts, self.left);
        let mut groups: Vec<Group> = Vec::new();
        let mut at = 0;
        let Some(last) = tokens.last() else { return };
        if !self.spend(tokens.len(), last.span) {
            return;
        }
        while tokens[at].kind != Kind::End && !self.is_stopped {
            let is_directive = |token: &Token| token.is_first_on_line && token.is("#");
            let start = at;
            if is_directive(&tokens[at]) {
                at += 1;
                while tokens[at].kind != Kind::End && !tokens[at].is_first_on_line {
                    at += 1;
                }
                self.directive(&tokens[start..at], &mut groups, depth);
                continue;
            }
            while tokens[at].kind != Kind::End && !is_directive(&tokens[at]) {
                at += 1;
            }
            if groups.iter().all(|group| group.is_active) {
                let expanded = self.expand(tokens[start..at].to_vec());
                self.put(expanded);
            }
        }
        if let Some(group) = groups.last() {
            self.error(group.start, "this `#if` has no `#endif`");
        }
    }

    /// Appends tokens to the result; those that are none are reported.
    fn put(&mut self, tokens: Vec<Token>) {
        for token in tokens {
            if token.kind != Kind::Bad {
                self.out.push(token);
                continue;
            }
            let (message, meant) = not_a_token(&token);
            if !self.is_stopped {
                self.messages.push(message);
                // What follows a text without an end is noise.
                self.is_stopped = token.text.starts_with(['/', '"', '\'']);
            }
            if let Some(meant) = meant {
                self.out.push(Token { kind: Kind::Punct, text: meant.into(), ..token });
            }
        }
    }

    /// Runs a directive, from its `#` to the end of its line.
    fn directive(&mut self, line: &[Token], groups: &mut Vec<Group>, depth: usize) {
        let Some(name) = line.get(1) else { return };
        let arguments = &line[2..];
        let span = line[0].span.to(name.span);
        let is_active = groups.iter().all(|group| group.is_active);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let is_defined = |name: &Token| self.macros.contains_key(&name.text);
                let is_taken = match (&*name.text, arguments.first()) {
                    _ if !is_active => false,
                    ("if", _) => self.condition(arguments, span),
                    (word, Some(name)) => is_defined(name) == (word == "ifdef"),
                    (word, None) => {
                        self.error(span, format!("`#{word}` without a name"));
                        false
                    }
                };
                if groups.len() == MAX_NESTING {
                    return self.stop(span, format!("`#if` nests more than {MAX_NESTING} deep"));
                }
                let is_decided = is_taken || !is_active;
                groups.push(Group { start: span, is_active: is_taken, is_decided, has_else: false });
            }
            "elif" | "else" | "endif" => {
                let Some(mut group) = groups.pop() else {
                    return self.error(span, format!("`#{}` without `#if`", name.text));
                };
                if name.is("endif") {
                    return;
                }
                if group.has_else {
                    self.error(span, format!("`#{}` after `#else`", name.text));
                }
                group.is_active = !group.is_decided && (name.is("else") || self.condition(arguments, span));
                group.is_decided |= group.is_active;
                group.has_else |= name.is("else");
                groups.push(group);
            }
            _ if !is_active => {}
            "define" => self.define(arguments, span),
            "undef" => {
                if let Some(name) = arguments.first() {
                    self.macros.remove(&name.text);
                }
            }
            "include" => self.include(arguments, span, depth),
            "error" => {
                let text: Vec<&str> = arguments.iter().map(|token| &*token.text).collect();
                self.error(span, format!("`#error`: {}", text.join(" ")));
            }
            "pragma" => self.pragma(arguments, span),
            "warning" | "line" => {}
            "[" | "!" => self.messages.push(
                Message::error(span, "attributes are of Rust")
                    .label("not a directive")
                    .help("a kernel is marked by `extern \"C\" __global__`, a function on the GPU by `__device__`"),
            ),
            word => {
                let help = suggest(word, DIRECTIVES.split(' ')).map(|name| format!("there is `#{name}`"));
                let message = Message::error(span, format!("there is no directive `#{word}`"));
                self.messages.push(Message { help, ..message });
            }
        }
    }

    fn define(&mut self, arguments: &[Token], span: Span) {
        let Some((name, rest)) = arguments.split_first().filter(|(name, _)| name.kind == Kind::Word) else {
            return self.error(span, "`#define` without a name");
        };
        let mut definition = Macro { parameters: None, body: rest.to_vec() };
        let mut warn = |span, sign, help: String| {
            let text = format!("this `{sign}` is part of what the macro stands for");
            self.messages.push(Message::warning(span, text).label(help));
        };
        match rest {
            [open, ..] if open.is("(") && !open.has_space_before => {
                let close = rest.iter().position(|token| token.is(")"));
                let Some(close) = close.filter(|&close| !rest[..close].iter().any(|token| token.is("..."))) else {
                    let what = "a macro with any number of arguments, or without a `)`,";
                    return self.messages.push(Message::unsupported(name.span, what));
                };
                let names = rest[1..close].iter().filter(|token| !token.is(","));
                definition.parameters = Some(names.map(|token| token.text.clone()).collect());
                definition.body = rest[close + 1..].to_vec();
            }
            [equals, ..] if equals.is("=") => warn(equals.span, "=", format!("help: write `#define {} …`", name.text)),
            [_, semicolon] if semicolon.is(";") => warn(semicolon.span, ";", "help: remove it".to_owned()),
            _ => {}
        }
        self.macros.insert(name.text.clone(), Rc::new(definition));
    }

    fn include(&mut self, arguments: &[Token], span: Span, depth: usize) {
        let arguments = self.expand(arguments.to_vec());
        let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else {
            return self.error(span, "`#include` without a name");
        };
        let place = first.span.to(last.span);
        let written = self.sources.text(place).to_owned();
        if first.kind != Kind::Str && !(first.is("<") && last.is(">")) {
            return self.error(place, "`#include` takes a name as `\"name\"` or `<name>`");
        }
        let name = written.trim_matches(['"', '<', '>']);
        if let Some((name, text)) = self.headers.iter().find(|(header, _)| header == name) {
            let known = self.sources.files.iter().skip(1).position(|file| file.name == *name).map(|at| at as u16 + 1);
            if depth == MAX_NESTING {
                return self.error(place, format!("headers include one another more than {MAX_NESTING} deep"));
            }
            let file = known.unwrap_or_else(|| {
                self.sources.files.push(File::new(name, text));
                self.sources.files.len() as u16 - 1
            });
            if !self.once.contains(&file) {
                self.file(file, depth + 1);
            }
        } else if first.is("<") || name.starts_with("cuda") || one_of(name, BUILT_IN) {
            if one_of(name, BUILT_IN) {
                return;
            }
            // Headers of the C++ standard library have no ending.
            self.messages.push(if name.contains('.') {
                Message::unsupported(place, format!("`<{name}>`"))
            } else {
                Message::error(place, format!("cannot find `<{name}>`"))
                    .label("no compiler of kernels has the C++ standard library")
            });
        } else {
            let message = Message::error(place, format!("cannot find the header `{name}`")).label("not found");
            let help =
                suggest(name, self.headers.iter().map(|(name, _)| &**name)).map(|name| format!("there is `{name}`"));
            self.messages.push(Message { help, ..message });
        }
    }

    fn pragma(&mut self, arguments: &[Token], span: Span) {
        let Some(name) = arguments.first() else { return };
        match &*name.text {
            "once" => drop(self.once.insert(span.file)),
            "unroll" | "nounroll" => {
                let number = Token { kind: Kind::Number, text: "1".into(), ..name.clone() };
                let count = if name.is("unroll") { self.expand(arguments[1..].to_vec()) } else { vec![number] };
                let mark =
                    |kind| Token { kind, text: "#pragma unroll".into(), span: span.to(name.span), ..name.clone() };
                self.out.push(Token { is_first_on_line: true, ..mark(Kind::Pragma) });
                self.put(count);
                self.out.push(mark(Kind::PragmaEnd));
            }
            _ => {}
        }
    }

    /// Returns whether the expression of a `#if` is true. One that is ill-formed is reported, and false.
    fn condition(&mut self, arguments: &[Token], span: Span) -> bool {
        let mut replaced = Vec::new();
        let mut at = 0;
        while let Some(token) = arguments.get(at) {
            at += 1;
            if !token.is("defined") {
                replaced.push(token.clone());
                continue;
            }
            let has_parenthesis = arguments.get(at).is_some_and(|token| token.is("("));
            let Some(name) = arguments.get(at + usize::from(has_parenthesis)) else {
                self.error(token.span, "`defined` without a name");
                return false;
            };
            at += if has_parenthesis { 3 } else { 1 };
            let text = if self.macros.contains_key(&name.text) { "1" } else { "0" };
            replaced.push(Token { kind: Kind::Number, text: text.into(), ..token.clone() });
        }
        let mut tokens = self.expand(replaced);
        let Some(last) = tokens.last().or(arguments.last()) else {
            self.error(span, "`#if` without a condition");
            return false;
        };
        tokens.push(Token { kind: Kind::End, text: "".into(), ..last.clone() });
        let condition = grammar::condition(&tokens, &mut self.messages);
        condition.is_some_and(|condition| match value::value(&condition) {
            Ok(value) => value != 0,
            Err(place) => {
                self.error(place, "this is not a constant that `#if` can compute");
                false
            }
        })
    }
}

/// Characters that are like operators of C++, and these.
const LOOKALIKES: &str = "× * · * ∗ * ⋅ * ÷ / ∕ / − - – - — - ≤ <= ⩽ <= ≥ >= ⩾ >= ≠ != ∧ && ∨ || ； ; ， , （ ( ） ) ［ \
    [ ］ ] ＝ =";

/// Returns what is wrong with characters that are no token, and the token that is meant.
fn not_a_token(token: &Token) -> (Message, Option<&'static str>) {
    let text = &*token.text;
    let shown: String = text.chars().take(20).collect();
    if text.starts_with("/*") {
        let start = Span { end: token.span.start + 2, ..token.span };
        return (Message::error(start, "this comment has no end").label("help: `*/` ends it"), None);
    }
    if text.starts_with(['"', '\'']) {
        let what = if text.starts_with('"') { "string" } else { "character" };
        let message = Message::error(token.span, format!("this {what} has no end"));
        return (message.label(format!("no closing `{}` on this line", &text[..1])), None);
    }
    let mut pairs = LOOKALIKES.split(' ');
    let meant = std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).find(|pair| pair.0 == text);
    let meant = meant.map(|(_, meant)| meant);
    let message = Message::error(token.span, format!("`{shown}` is not a character of C++"));
    let message = match text {
        "“" | "”" | "„" | "‘" | "’" => message.label("help: write `\"`, the plain quote"),
        "\u{a0}" | "\u{202f}" | "\u{200b}" => {
            Message::error(token.span, "this space is not a plain one").label("help: write a plain space")
        }
        "\\" => message.label("unexpected").help("`\\` continues a line where it is its last character"),
        _ => match meant {
            Some(meant) => message.label(format!("help: write `{meant}`")),
            None => message.label("unexpected"),
        },
    };
    (message, meant)
}
