//! Expansion of macros.

use crate::lex::{self, Kind, Token};
use crate::message::Message;

use super::{Macro, Preprocessor};

/// Macro calls in arguments of macro calls.
const MAX_ARGUMENT_DEPTH: usize = 50;
/// Bytes of a token that `##` makes.
const MAX_TOKEN_BYTES: usize = 1000;

/// Tokens that are being read: how many macros are active in them, and what is left.
type Context = (usize, std::iter::Peekable<std::vec::IntoIter<Token>>);

impl Preprocessor<'_> {
    /// Returns the tokens with their macros expanded.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut out = Vec::new();
        let mut stack: Vec<Context> = vec![(self.active.len(), tokens.into_iter().peekable())];
        while let Some((depth, top)) = stack.last_mut() {
            self.active.truncate(*depth);
            let Some(mut token) = top.next() else {
                stack.pop();
                continue;
            };
            let definition = match self.macros.get(&token.text) {
                Some(definition) if token.kind == Kind::Word && !token.is_painted => definition.clone(),
                _ => {
                    out.push(token);
                    continue;
                }
            };
            if self.active.contains(&token.text) {
                token.is_painted = true;
                out.push(token);
                continue;
            }
            let mut arguments = Vec::new();
            if definition.parameters.is_some() {
                while stack.len() > 1 && stack.last_mut().is_some_and(|(_, top)| top.peek().is_none()) {
                    stack.pop();
                }
                let is_call = stack.last_mut().is_some_and(|(_, top)| top.peek().is_some_and(|next| next.is("(")));
                if !is_call {
                    out.push(token);
                    continue;
                }
                let Some(read) = self.arguments(&token, &definition, &mut stack) else { return out };
                arguments = read;
            }
            let depth = stack.last().map_or(0, |(depth, _)| *depth);
            self.active.truncate(depth);
            let Some(body) = self.substitute(&token, &definition, arguments) else { return out };
            self.active.push(token.text.clone());
            stack.push((self.active.len(), body.into_iter().peekable()));
        }
        out
    }

    /// Reads the arguments of a call of a macro. A call that is ill-formed is reported.
    fn arguments(&mut self, name: &Token, definition: &Macro, stack: &mut Vec<Context>) -> Option<Vec<Vec<Token>>> {
        let most = definition.parameters.as_ref().map_or(0, Vec::len);
        let mut arguments = vec![Vec::new()];
        let mut nesting = 0;
        loop {
            let Some((_, top)) = stack.last_mut() else {
                self.error(name.span, format!("this call of the macro `{}` has no `)`", name.text));
                return None;
            };
            let Some(token) = top.next() else {
                stack.pop();
                continue;
            };
            nesting += i32::from(token.is("(")) - i32::from(token.is(")"));
            let is_open = nesting == 1 && token.is("(") && arguments.len() == 1 && arguments[0].is_empty();
            if nesting == 0 {
                break;
            } else if nesting == 1 && token.is(",") {
                arguments.push(Vec::new());
            } else if !is_open {
                let last = arguments.len() - 1;
                arguments[last].push(token);
            }
        }
        if most == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() != most {
            let given = arguments.len();
            self.error(name.span, format!("the macro `{}` takes {most} arguments, and {given} are given", name.text));
            return None;
        }
        Some(arguments)
    }

    /// Returns the body of a macro with its arguments, or nothing where that is too long.
    fn substitute(&mut self, name: &Token, definition: &Macro, arguments: Vec<Vec<Token>>) -> Option<Vec<Token>> {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        let index = |token: &Token| parameters.iter().position(|parameter| *parameter == token.text);
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(token) = definition.body.get(at) {
            let next = definition.body.get(at + 1);
            at += 1;
            let before = out.len();
            if token.is("#") && definition.parameters.is_some() {
                self.messages.push(Message::unsupported(name.span, "a macro that makes a string by `#`"));
                return None;
            } else if let (true, Some(next)) = (token.is("##") && !out.is_empty(), next) {
                at += 1;
                let right = index(next).map_or_else(|| vec![next.clone()], |of| arguments[of].clone());
                self.paste(name, &mut out, right)?;
                continue;
            } else if let Some(of) = index(token) {
                if next.is_some_and(|next| next.is("##")) {
                    out.extend(arguments[of].iter().cloned());
                } else {
                    if expanded[of].is_none() {
                        expanded[of] = Some(self.expand_argument(name, arguments[of].clone())?);
                    }
                    out.extend(expanded[of].iter().flatten().cloned());
                }
                if let Some(first) = out.get_mut(before) {
                    first.has_space_before = token.has_space_before;
                }
            } else {
                out.push(Token { span: name.span, ..token.clone() });
            }
            let made = out.len() - before;
            if !self.spend(made, name.span) {
                return None;
            }
        }
        for token in &mut out {
            token.is_first_on_line = false;
        }
        if let Some(first) = out.first_mut() {
            (first.is_first_on_line, first.has_space_before) = (name.is_first_on_line, name.has_space_before);
            first.column = name.column;
        }
        Some(out)
    }

    fn expand_argument(&mut self, name: &Token, argument: Vec<Token>) -> Option<Vec<Token>> {
        if self.argument_depth == MAX_ARGUMENT_DEPTH {
            self.stop(name.span, format!("calls of macros nest more than {MAX_ARGUMENT_DEPTH} deep"));
            return None;
        }
        self.argument_depth += 1;
        let depth = self.active.len();
        let argument = self.expand(argument);
        self.active.truncate(depth);
        self.argument_depth -= 1;
        Some(argument)
    }

    /// Joins the last token of `out` with the first of `right`, and appends the others.
    fn paste(&mut self, name: &Token, out: &mut Vec<Token>, right: Vec<Token>) -> Option<()> {
        let mut right = right.into_iter();
        let Some(first) = right.next() else { return Some(()) };
        let left = out.pop()?;
        let text = format!("{}{}", left.text, first.text);
        let tokens = lex::lex(&text, 0, &mut self.texts, 3);
        if text.len() > MAX_TOKEN_BYTES || tokens.len() != 2 || !self.spend(1, name.span) {
            self.error(name.span, format!("`##` makes no token of `{}` and `{}`", left.text, first.text));
            return None;
        }
        out.push(Token { kind: tokens[0].kind, text: tokens[0].text.clone(), is_painted: false, ..left });
        out.extend(right);
        self.spend(1, name.span).then_some(())
    }
}
