//! Which statements of a `.cu` stand inside which: branches, loops, and where a statement ends.
//!
//! Brackets and semicolons are followed, types and macros are not. A text that does not fit together (braces that
//! differ between the arms of an `#if`) has no statements at all, so nothing is said of it.

#[cfg(test)]
mod tests;

use std::ops::Range;

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
        let text = without_directives(clean);
        let mut parser = Parser { text: &text, at: 0, depth: 0, found: Self::default() };
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

/// Blanks out preprocessor lines, and their continuations, byte for byte.
fn without_directives(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut continues = false;
    for line in text.split_inclusive('\n') {
        let directive = continues || line.trim_start().starts_with('#');
        continues = directive && line.trim_end().ends_with('\\');
        if directive {
            out.extend(line.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(line);
        }
    }
    out
}

struct Parser<'a> {
    text: &'a str,
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

    /// Returns the next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the identifier at the current position; empty where there is none.
    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Parses `(…)`, and returns the range inside.
    fn parenthesised(&mut self) -> Option<&'a str> {
        if self.peek()? != b'(' {
            return None;
        }
        let inside = crate::source::text::bracketed(&self.text[self.at..])?;
        self.at += inside.len() + 2;
        Some(inside)
    }

    fn statement(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let first = self.peek()?;
        let start = self.at;
        let word = self.word();
        match (first, word) {
            (b'{', _) => {
                self.at += 1;
                self.block()?;
            }
            (b'}', _) | (_, "else") => return None,
            (b';', _) => self.at += 1,
            (_, "if") => {
                self.at += word.len();
                if self.word() == "constexpr" {
                    self.at += "constexpr".len();
                }
                let condition = one_line(self.parenthesised()?);
                let header = format!("if ({condition})");
                self.under(Control::If, header.clone(), &condition, start)?;
                let end = self.at;
                if self.word() == "else" {
                    let start = self.at;
                    self.at += "else".len();
                    self.under(Control::Else, header, &condition, start)?;
                } else {
                    // What is around ends here, too, and not where the next statement begins.
                    self.at = end;
                }
            }
            (_, "for" | "while" | "switch") => {
                self.at += word.len();
                let header = format!("{word} ({})", one_line(self.parenthesised()?));
                let control = match word {
                    "switch" => Control::Switch,
                    _ => Control::Loop,
                };
                self.under(control, header, "", start)?;
            }
            (_, "do") => {
                self.at += word.len();
                let place = self.found.enclosures.len();
                self.under(Control::Loop, "do".into(), "", start)?;
                if self.word() != "while" {
                    return None;
                }
                self.at += "while".len();
                let condition = one_line(self.parenthesised()?);
                // The loop itself was put in last.
                let own = self.found.enclosures[place..].iter_mut().rev().find(|e| e.start == start)?;
                own.header = format!("do … while ({condition})");
                if self.peek()? == b';' {
                    self.at += 1;
                }
            }
            (_, "case" | "default") => {
                let rest = &self.text.as_bytes()[self.at..];
                let colon = (0..rest.len())
                    .find(|&i| rest[i] == b':' && rest.get(i + 1) != Some(&b':') && (i == 0 || rest[i - 1] != b':'))?;
                self.at += colon + 1;
            }
            _ => self.simple(start)?,
        }
        self.depth -= 1;
        Some(())
    }

    fn under(&mut self, control: Control, header: String, condition: &str, start: usize) -> Option<()> {
        self.peek()?;
        let from = self.at;
        self.statement()?;
        self.found.enclosures.push(Enclosure {
            control,
            header,
            condition: condition.to_owned(),
            start,
            body: from..self.at,
        });
        Some(())
    }

    /// Parses statements up to the closing brace.
    fn block(&mut self) -> Option<()> {
        while self.peek()? != b'}' {
            self.statement()?;
        }
        self.at += 1;
        Some(())
    }

    /// Parses a statement up to its semicolon, or a definition up to its end.
    fn simple(&mut self, start: usize) -> Option<()> {
        let mut open = 0usize;
        let mut defines = false;
        loop {
            match self.peek() {
                // The last value of a list in braces.
                None => break,
                Some(b'}') if open == 0 => break,
                Some(b'(' | b'[') => open += 1,
                Some(b')' | b']') => open = open.checked_sub(1)?,
                Some(b';') if open == 0 => {
                    self.at += 1;
                    break;
                }
                Some(b'{') => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return None;
                    }
                    self.at += 1;
                    self.block()?;
                    self.depth -= 1;
                    match self.peek() {
                        Some(b';' | b',' | b')' | b'(' | b'.' | b'}' | b'[' | b']') => continue,
                        _ if open > 0 => continue,
                        _ => {
                            defines = true;
                            break;
                        }
                    }
                }
                Some(b) if !b.is_ascii() => {
                    self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                    continue;
                }
                Some(_) => {}
            }
            self.at += 1;
        }
        // A function or a type: what it holds are the statements.
        if !defines {
            self.found.simple.push(start..self.at);
        }
        Some(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
