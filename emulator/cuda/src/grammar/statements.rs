//! Statements.

use crate::lex::{Kind, Token, one_of};
use crate::message::Message;
use crate::tree::{BinaryOp, Compare, Expression, ExpressionKind, Initializer, Statement, StatementKind, Unroll};

use super::{Parser, Result, words};

/// Functions that do nothing unless called.
const CALLED: &str = "__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system __trap";

const LOOPS: &str = "for while do";

impl Parser {
    /// Reads statements up to `}`. One that fails is left out.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.is("}") && !self.is_end() {
            let start = self.at;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(_) => self.recover(start),
            }
        }
        statements
    }

    fn statement(&mut self) -> Result<Statement> {
        self.links = 0;
        self.nested(|parser| {
            while parser.is("[") && parser.next_is("[") {
                // An attribute, `[[fallthrough]]`.
                parser.skip_one();
            }
            let start = parser.span();
            let kind = parser.statement_kind()?;
            Ok(Statement { span: start.to(parser.previous()), kind })
        })
    }

    pub(super) fn boxed(&mut self) -> Result<Box<Statement>> {
        self.statement().map(Box::new)
    }

    fn statement_kind(&mut self) -> Result<StatementKind> {
        let span = self.span();
        if self.peek().kind == Kind::Pragma {
            let unroll = self.unroll()?;
            return match () {
                () if self.is_any(LOOPS) => self.loop_after(unroll),
                () if self.is("}") => Ok(StatementKind::Empty),
                () => self.statement().map(|statement| statement.kind),
            };
        }
        self.refuse_any("goto try throw co_return co_await", "{}")?;
        self.refuse_any("union class enum namespace template", "{} inside of a function")?;
        match &*self.peek().text {
            ";" => {
                self.bump();
                Ok(StatementKind::Empty)
            }
            "{" => Ok(StatementKind::Block(self.block()?)),
            "if" => self.scoped(Self::if_statement),
            "for" | "while" | "do" => self.loop_after(Unroll::Unsaid),
            "switch" => {
                self.bump();
                let on = self.condition("switch")?;
                self.switches += 1;
                let body = self.block();
                self.switches -= 1;
                Ok(StatementKind::Switch { on, body: body? })
            }
            "case" | "default" | "break" | "continue" if self.is_misplaced() => {
                let around = match &*self.peek().text {
                    "case" | "default" => "`switch`",
                    "break" => "loop and no `switch`",
                    _ => "loop",
                };
                let text = format!("there is no {around} around this `{}`", self.peek().text);
                Err(self.error(span, text, "not in its place"))
            }
            "case" => {
                self.bump();
                let value = self.conditional()?;
                self.refuse_any("...", "a `case` of a range")?;
                self.expect(":")?;
                Ok(StatementKind::Case(value))
            }
            "default" => {
                self.bump();
                self.expect(":")?;
                Ok(StatementKind::Default)
            }
            "break" | "continue" => {
                let kind = if self.is("break") { StatementKind::Break } else { StatementKind::Continue };
                self.bump();
                self.expect_semicolon()?;
                Ok(kind)
            }
            "return" => {
                self.bump();
                let is_empty = self.is_any("; }") || self.peek().is_first_on_line;
                let value = match () {
                    () if is_empty => None,
                    () if self.is("{") => Some(self.initializer()?),
                    () => Some(Initializer::Expression(self.expression()?)),
                };
                self.expect_semicolon()?;
                Ok(StatementKind::Return(value))
            }
            "static_assert" => Ok(StatementKind::Assert(self.assert()?)),
            "using" => Ok(self.using()?.map_or(StatementKind::Empty, StatementKind::Alias)),
            "asm" | "__asm__" | "__asm" => self.asm(),
            "struct" if self.defines_struct() => Err(self.refuse(span, "`struct` inside of a function")),
            "else" => {
                let help = "an `if` ends at the first `;` or `}`: is there a `;` behind its `)`, or are braces missing \
                     around several statements?";
                Err(self.report(Message::error(span, "`else` without an `if` before it").label("no `if`").help(help)))
            }
            "#" => Err(self.error(span, "`#` starts no directive here", "unexpected")),
            _ => match self.rust_statement()? {
                Some(statement) => Ok(statement),
                None if self.is_declaration() => self.declaration(),
                None => self.expression_statement(),
            },
        }
    }

    pub(super) fn inside_loop<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.loops += 1;
        let result = read(self);
        self.loops -= 1;
        result
    }

    /// Returns whether the word here needs another statement around it.
    fn is_misplaced(&self) -> bool {
        match &*self.peek().text {
            "continue" => self.loops == 0,
            "break" => self.loops + self.switches == 0,
            _ => self.switches == 0,
        }
    }

    /// Returns whether a declaration starts here.
    fn is_declaration(&self) -> bool {
        let token = self.peek();
        let next = self.token(self.behind_arguments(self.at + 1));
        if self.is_type_name(self.at) {
            return next.is_any("* & && [") || next.kind == Kind::Word;
        }
        // `foo x`: a type that is not known, or a qualifier that is misspelt.
        let is_unknown = self.is_word() && self.meaning(&token.text).is_none() && !words::is_reserved(&token.text);
        let has_name = next.kind == Kind::Word && !next.is("as") && !next.is_first_on_line;
        // `float (*row)[4]` declares, unlike `float(x)`.
        let is_conversion = token.is_any(words::SCALARS) && next.is_any("( {") && !self.token(self.at + 2).is("*");
        self.is_type_at(self.at) && !is_conversion || is_unknown && has_name
    }

    fn declaration(&mut self) -> Result<StatementKind> {
        let start = self.span();
        let specifiers = self.specifiers()?;
        self.brackets_before_name();
        if specifiers.is_kernel {
            return Err(self.refuse(start, "a kernel inside of a function"));
        }
        let declarator = self.declarator(specifiers.ty.clone(), false)?;
        if specifiers.is_typedef {
            return Ok(StatementKind::Alias(self.typedef(declarator)?));
        }
        Ok(StatementKind::Variables(self.variables(specifiers, declarator)?))
    }

    fn expression_statement(&mut self) -> Result<StatementKind> {
        let expression = self.expression()?;
        self.refuse_any(":", "a label")?;
        match &expression.kind {
            ExpressionKind::Name { name, .. } if one_of(&name.text, CALLED) => {
                let label = format!("help: write `{}()`", name.text);
                self.error(name.span, format!("`{}` is not called", name.text), label);
            }
            ExpressionKind::Name { .. } | ExpressionKind::Int { .. } | ExpressionKind::Subscript(..)
                if self.is(";") =>
            {
                self.warn(expression.span, "this statement does nothing", "a value that nothing uses", "");
            }
            ExpressionKind::Binary(BinaryOp::Compare(Compare::Eq), ..) => {
                let text = "this statement compares, and does nothing with the result";
                self.warn(expression.span, text, "help: `=` assigns", "");
            }
            // Rust's value of a block.
            ExpressionKind::Binary(..) | ExpressionKind::Name { .. } | ExpressionKind::Float { .. } if self.is("}") => {
                let label = format!("help: write `return {};`", self.text_of(&expression));
                self.error(expression.span, "a function of C++ returns by `return`", label);
                return Ok(StatementKind::Expression(expression));
            }
            _ => {}
        }
        self.expect_semicolon()?;
        Ok(StatementKind::Expression(expression))
    }

    /// Reads `(condition)` behind `word`. Where the parentheses are missing, it is read without them.
    fn condition(&mut self, word: &str) -> Result<Expression> {
        let start = self.at;
        if !self.is("(") {
            let condition = self.expression()?;
            let label = format!("help: write `({})`", self.text(start, self.at));
            self.error(condition.span, format!("the condition of `{word}` stands in parentheses"), label);
            return Ok(condition);
        }
        self.bump();
        let condition = self.tested()?;
        self.expect(")")?;
        // Rust's `if (a) && (b) {`.
        if self.is_any("&& || == < > <= >= !=") {
            let end = (self.at..self.tokens.len() - 1).find(|&at| self.token(at).is_any("{ ;")).unwrap_or(self.at);
            let help = format!("write `{word} ({})`", self.text(start, end));
            let text = format!("the condition of `{word}` goes on behind its parentheses");
            self.report(Message::error(self.span(), text).label("not part of the condition").help(help));
            self.at = end;
        }
        Ok(condition)
    }

    /// Reads a condition, which rarely means to assign.
    fn tested(&mut self) -> Result<Expression> {
        let condition = self.expression()?;
        if let ExpressionKind::Assign(None, ..) = &condition.kind {
            let label = "always the value on the right";
            self.warn(condition.span, "this condition assigns, and does not compare", label, "`==` compares");
        }
        Ok(condition)
    }

    fn if_statement(&mut self) -> Result<StatementKind> {
        let word = self.peek().clone();
        self.bump();
        let is_constexpr = self.eat("constexpr");
        let has_declaration = self.is("(") && self.is_type_at(self.at + 1) && !self.token(self.at + 2).is("(");
        let mut first = None;
        let condition = if has_declaration {
            let end = self.partner(self.at);
            let start = self.bump();
            if !(self.at..end).any(|at| self.token(at).is(";")) {
                return Err(self.refuse(start, "a declaration as a condition"));
            }
            let kind = self.declaration()?;
            first = Some(Box::new(Statement { span: start.to(self.previous()), kind }));
            let condition = self.tested()?;
            self.expect(")")?;
            condition
        } else {
            self.condition("if")?
        };
        let then = self.body(&word)?;
        let otherwise = if self.eat("else") { Some(self.boxed()?) } else { None };
        Ok(StatementKind::If { is_constexpr, first, condition, then, otherwise })
    }

    /// Reads the statement behind `if (…)` or the head of a loop.
    fn body(&mut self, keyword: &Token) -> Result<Box<Statement>> {
        let word = &keyword.text;
        let next = self.token(self.at + 1);
        let is_suspicious = next.is("{") || (keyword.is("if") && !next.is("else"));
        if self.is(";") && is_suspicious && !self.peek().is_first_on_line {
            let message = Message::warning(self.span(), format!("this `;` is all that the `{word}` controls"));
            let note = format!("the `{word}`; what follows the `;` runs once, in any case");
            self.report(message.label("help: remove it").note(keyword.span, note));
        }
        if self.is_any(": then") {
            let text = format!("no `{}` stands behind the head of `{word}`", self.peek().text);
            self.error(self.span(), text, "help: remove it, and write the body in `{` and `}`");
            self.bump();
        }
        let first = self.peek().clone();
        let body = self.boxed()?;
        let next = self.peek();
        let is_alike = first.is_first_on_line && next.is_first_on_line && first.column == next.column;
        let is_indented = first.column > keyword.column && !first.is("{");
        if is_alike && is_indented && !next.is_any("} else") && !matches!(next.kind, Kind::Pragma | Kind::End) {
            let text = format!("this statement is not part of the `{word}`, though it is indented like it");
            let message = Message::warning(self.span(), text).label("always runs");
            let note = format!("without braces, the `{word}` controls one statement");
            self.report(message.note(keyword.span, note));
        }
        Ok(body)
    }

    fn loop_after(&mut self, unroll: Unroll) -> Result<StatementKind> {
        let keyword = self.peek().clone();
        self.bump();
        match &*keyword.text {
            "while" => {
                let condition = Some(self.condition("while")?);
                let body = self.inside_loop(|parser| parser.body(&keyword))?;
                Ok(StatementKind::For { unroll, first: None, condition, step: None, body })
            }
            "do" => {
                let body = self.inside_loop(Self::boxed)?;
                self.expect("while")?;
                let condition = self.condition("while")?;
                self.expect_semicolon()?;
                Ok(StatementKind::DoWhile { unroll, body, condition })
            }
            _ => self.scoped(|parser| parser.for_after(unroll, &keyword)),
        }
    }

    fn for_after(&mut self, unroll: Unroll, keyword: &Token) -> Result<StatementKind> {
        if let Some(statement) = self.for_in(keyword)? {
            return Ok(statement);
        }
        let end = self.partner(self.at);
        self.expect("(")?;
        let find = |text: &str| (self.at..end).find(|&at| self.token(at).is(text));
        match (find(";"), find(","), find(":")) {
            (None, _, Some(_)) => return Err(self.refuse(keyword.span, "`for` over a range")),
            (None, Some(comma), _) => {
                let help = format!("write `for ({})`", self.text(self.at, end).replace(',', ";"));
                let text = "the parts of the head of `for` are separated by `;`";
                return Err(self.report(Message::error(self.token(comma).span, text).label("not `,`").help(help)));
            }
            _ => {}
        }
        let start = self.span();
        let kind = match () {
            _ if self.eat(";") => None,
            _ if self.is_declaration() => Some(self.declaration()?),
            _ => Some(self.expression_statement()?),
        };
        let first = kind.map(|kind| Box::new(Statement { span: start.to(self.previous()), kind }));
        let condition = if self.is(";") { None } else { Some(self.tested()?) };
        if self.is(")") {
            let text = "the head of `for` has three parts, with a `;` behind the first and second";
            let message = Message::error(self.span(), text).label("a `;` and the step are missing");
            return Err(self.report(message.help("such as `for (int k = 0; k < K; ++k)`")));
        }
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let start = self.at;
        let body = self.inside_loop(|parser| parser.body(keyword))?;
        if let (Some(first), Some(condition), Some(step)) = (&first, &condition, &step) {
            self.check_step(&first.kind, condition, step, start);
        }
        Ok(StatementKind::For { unroll, first, condition, step, body })
    }

    pub(super) fn unroll(&mut self) -> Result<Unroll> {
        let span = self.bump();
        let is_full = self.peek().kind == Kind::PragmaEnd;
        let unroll = if is_full { Unroll::Full } else { Unroll::By(Box::new(self.expression()?)) };
        if self.peek().kind != Kind::PragmaEnd {
            return Err(self.unexpected("the end of the line"));
        }
        self.bump();
        if !self.is_any(LOOPS) && self.peek().kind != Kind::Pragma {
            self.warn(span, "`#pragma unroll` stands before a loop", "not before a loop, and without effect", "");
        }
        Ok(unroll)
    }

    /// Skips `asm volatile("…" : outputs : inputs : clobbers);`: it is refused where it is called.
    fn asm(&mut self) -> Result<StatementKind> {
        self.bump();
        while self.is_any("volatile __volatile__") {
            self.bump();
        }
        self.refuse_any("goto {", "this form of `asm`")?;
        if !self.is("(") {
            return Err(self.unexpected("`(`"));
        }
        self.skip_one();
        self.expect_semicolon()?;
        Ok(StatementKind::Asm)
    }
}
