//! Which statements of a `.cu` stand inside which: branches, loops, and where a statement ends.
//!
//! Brackets and semicolons are followed, types and macros are not. A text that does not fit together (braces that
//! differ between the arms of an `#if`) has no statements at all, so nothing is said of it.

#[cfg(test)]
mod tests;

use std::ops::Range;

use cpp_tokens::Token;

/// Limit on the depth of nested statements that are followed.
const MAX_DEPTH: usize = 100;

/// Effect of a header on the statement under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    If,
    Else,
    Loop,
    Switch,
}

/// A branch or a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Enclosure {
    pub(crate) control: Control,
    /// The header's text: `if (i < n)`, `for (int k = 0; k < n; ++k)`; for an `else` that of its `if`.
    pub(crate) header: String,
    /// The condition of an `if`, or of the `if` that an `else` belongs to.
    pub(crate) condition: String,
    /// Positions of the header, and of the statement under it.
    pub(crate) start: usize,
    pub(crate) body: Range<usize>,
}

impl Enclosure {
    /// Returns the text in the brackets of the header.
    pub(crate) fn inside(&self) -> &str {
        self.header.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest))
    }

    /// Returns the first value, the condition and the step of a `for`.
    pub(crate) fn for_parts(&self) -> Option<[&str; 3]> {
        let parts: Vec<&str> = self.inside().split(';').map(str::trim).collect();
        parts.try_into().ok()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// The enclosing statements, in the order of their ends.
    enclosures: Vec<Enclosure>,
    /// Declarations, expressions and definitions.
    simple: Vec<Range<usize>>,
}

impl Statements {
    /// Parses a text that has neither comments nor strings.
    pub(crate) fn new(clean: &str) -> Self {
        let tokens = cpp_tokens::code(clean).collect();
        let mut parser = Parser { text: clean, tokens, at: 0, depth: 0, found: Self::default() };
        parser.all().map_or_else(Self::default, |()| parser.found)
    }

    /// Headers around a position, outermost first.
    pub(crate) fn around(&self, at: usize) -> Vec<&Enclosure> {
        let mut around: Vec<&Enclosure> = self.enclosures.iter().filter(|e| e.body.contains(&at)).collect();
        around.sort_by_key(|e| (e.body.start, std::cmp::Reverse(e.body.end)));
        around
    }

    pub(crate) fn loops(&self) -> impl Iterator<Item = &Enclosure> {
        self.enclosures.iter().filter(|e| e.control == Control::Loop)
    }

    pub(crate) fn with_header(&self, header: &str) -> Option<&Enclosure> {
        self.enclosures.iter().find(|one| one.header == header)
    }

    /// Branches and loops whose header starts in a range.
    pub(crate) fn headed(&self, within: Range<usize>) -> Vec<&Enclosure> {
        let mut found: Vec<&Enclosure> = self.enclosures.iter().filter(|e| within.contains(&e.start)).collect();
        found.sort_by_key(|e| e.body.start);
        found
    }

    /// Returns the innermost plain statement at a position.
    pub(crate) fn statement_at(&self, position: usize) -> Option<Range<usize>> {
        let here = self.simple.iter().filter(|range| range.contains(&position));
        here.max_by_key(|range| range.start).cloned()
    }

    /// Returns the last plain statement that starts in a range.
    pub(crate) fn last_in(&self, within: Range<usize>) -> Option<usize> {
        let starts = self.simple.iter().map(|range| range.start);
        starts.filter(|start| within.contains(start)).max()
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    /// The next token.
    at: usize,
    depth: usize,
    found: Statements,
}

impl<'a> Parser<'a> {
    fn all(&mut self) -> Option<()> {
        while self.peek().is_some() {
            self.statement()?;
        }
        Some(())
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(|token| token.text)
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek() == Some(text);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns where the next token starts.
    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.start)
    }

    /// Returns where the last token ended.
    fn end(&self) -> usize {
        self.tokens[..self.at].last().map_or(0, Token::end)
    }

    /// Parses `(…)`, and returns the text inside, in one line.
    fn parenthesised(&mut self) -> Option<String> {
        let start = self.start() + 1;
        let mut open = 0;
        loop {
            match self.peek()? {
                "(" => open += 1,
                ")" => open -= 1,
                _ => {}
            }
            let end = self.start();
            self.at += 1;
            if open == 0 {
                return self.text.get(start..end).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }

    fn statement(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let (start, word) = (self.start(), self.peek()?);
        self.at += 1;
        match word {
            "{" => self.block()?,
            "}" | "else" => return None,
            ";" => {}
            "if" => {
                self.takes("constexpr");
                let condition = self.parenthesised()?;
                let header = format!("if ({condition})");
                self.under(Control::If, header.clone(), &condition, start)?;
                let start = self.start();
                if self.takes("else") {
                    self.under(Control::Else, header, &condition, start)?;
                }
            }
            "for" | "while" | "switch" => {
                let header = format!("{word} ({})", self.parenthesised()?);
                let control = if word == "switch" { Control::Switch } else { Control::Loop };
                self.under(control, header, "", start)?;
            }
            "do" => {
                let place = self.found.enclosures.len();
                self.under(Control::Loop, "do".into(), "", start)?;
                if !self.takes("while") {
                    return None;
                }
                let condition = self.parenthesised()?;
                // The loop itself was put in last.
                let own = self.found.enclosures[place..].iter_mut().rev().find(|e| e.start == start)?;
                own.header = format!("do … while ({condition})");
                self.takes(";");
            }
            "case" | "default" => {
                while self.peek()? != ":" {
                    self.at += 1;
                }
                self.at += 1;
            }
            _ => {
                self.at -= 1;
                self.simple(start)?;
            }
        }
        self.depth -= 1;
        Some(())
    }

    fn under(&mut self, control: Control, header: String, condition: &str, start: usize) -> Option<()> {
        let from = self.start();
        self.statement()?;
        let (condition, body) = (condition.to_owned(), from..self.end());
        self.found.enclosures.push(Enclosure { control, header, condition, start, body });
        Some(())
    }

    /// Parses statements up to the closing brace.
    fn block(&mut self) -> Option<()> {
        while self.peek()? != "}" {
            self.statement()?;
        }
        self.at += 1;
        Some(())
    }

    /// Parses a statement up to its semicolon, or a definition up to its end.
    fn simple(&mut self, start: usize) -> Option<()> {
        let mut open = 0usize;
        loop {
            match self.peek() {
                // The last value of a list in braces.
                None => break,
                Some("}") if open == 0 => break,
                Some("(" | "[") => open += 1,
                Some(")" | "]") => open = open.checked_sub(1)?,
                Some(";") if open == 0 => {
                    self.at += 1;
                    break;
                }
                Some("{") => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return None;
                    }
                    self.at += 1;
                    self.block()?;
                    self.depth -= 1;
                    match self.peek() {
                        Some(";" | "," | ")" | "(" | "." | "}" | "[" | "]") => continue,
                        _ if open > 0 => continue,
                        // A function or a type: what it holds are the statements.
                        _ => return Some(()),
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
        }
        self.found.simple.push(start..self.end());
        Some(())
    }
}
