//! Function bodies: statements, labels, `.loc`, instructions.

use super::{Parsed, Parser};
use crate::ast::{Guard, InlinedAt, Instruction, Linkage, Loc, Statement};
use crate::{lex::TokenKind, span::Span};

impl Parser<'_> {
    /// Reads `{ … }`, and appends to `statements`.
    pub(super) fn block(&mut self, what: &str, mut statements: Vec<Statement>, depth: usize) -> Parsed<Vec<Statement>> {
        let depth = self.deeper(depth)?;
        self.open(b'{', what)?;
        while !self.at(b'}') {
            self.statement(&mut statements, depth)?;
        }
        self.close(b'}')?;
        Ok(statements)
    }

    fn statement(&mut self, statements: &mut Vec<Statement>, depth: usize) -> Parsed<()> {
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Name => {
                let name = self.bump()?.text;
                let statement =
                    if self.eat(b':')? { self.labelled(start, name)? } else { self.instruction(start, None, name)? };
                statements.push(statement);
            }
            TokenKind::Mark(b'@') => {
                self.bump()?;
                let negated = self.eat(b'!')?;
                let register = self.name("a predicate")?.to_owned();
                let opcode = self.name("an instruction")?;
                statements.push(self.instruction(start, Some(Guard { register, negated }), opcode)?);
            }
            TokenKind::Mark(b'{') => statements.push(Statement::Block(self.block("", Vec::new(), depth)?)),
            TokenKind::Mark(b';') => {
                self.bump()?;
            }
            TokenKind::Dot => match self.token.text {
                "reg" => statements.push(Statement::Reg(self.registers()?)),
                "loc" => statements.push(Statement::Loc(self.loc()?)),
                "pragma" => {
                    let strings = self.pragma()?;
                    statements.push(Statement::Pragma(self.since(start), strings));
                }
                "branchtargets" | "calltargets" | "callprototype" => {
                    return Err(self.expected("a label before this directive"));
                }
                _ => {
                    let linkage = if self.eat_dot("extern")? { Linkage::Extern } else { Linkage::Internal };
                    statements.extend(self.variables(linkage)?.into_iter().map(Statement::Variable));
                }
            },
            _ => return Err(self.expected("an instruction, a directive or `}`")),
        }
        Ok(())
    }

    fn labelled(&mut self, start: Span, name: &str) -> Parsed<Statement> {
        let name = name.to_owned();
        if self.token.kind != TokenKind::Dot {
            return Ok(Statement::Label(self.since(start), name));
        }
        match self.token.text {
            "branchtargets" => {
                let targets = self.names()?;
                Ok(Statement::BranchTargets { span: self.since(start), name, targets })
            }
            "calltargets" => {
                let targets = self.names()?;
                Ok(Statement::CallTargets { span: self.since(start), name, targets })
            }
            "callprototype" => {
                self.bump()?;
                let returns = self.params()?;
                self.name("`_`")?;
                let params = self.params()?;
                while self.token.kind == TokenKind::Dot {
                    // `.noreturn` and the `.abi_preserve` family: promises to the compiler.
                    self.bump()?;
                    if self.token.kind == TokenKind::Number {
                        self.bump()?;
                    }
                }
                self.expect(b';')?;
                Ok(Statement::CallPrototype { span: self.since(start), name, returns, params })
            }
            _ => Ok(Statement::Label(self.since(start), name)),
        }
    }

    fn names(&mut self) -> Parsed<Vec<String>> {
        self.bump()?;
        let found = self.list(|parser| parser.name("a name").map(str::to_owned))?;
        self.expect(b';')?;
        Ok(found)
    }

    /// Parses `.loc 1 14 9, function_name $L__info_string0 + 4, inlined_at 1 30 5`.
    pub(super) fn loc(&mut self) -> Parsed<Loc> {
        self.bump()?;
        let file = self.small("a file number")?;
        let line = self.small("a line number")?;
        let column = self.small("a column number")?;
        let mut loc = Loc { file, line, column, inlined_at: None };
        if self.eat(b',')? {
            self.keyword("function_name")?;
            let function = self.name("a label")?.to_owned();
            let function_offset = self.offset()?.unwrap_or(0);
            self.expect(b',')?;
            self.keyword("inlined_at")?;
            let file = self.small("a file number")?;
            let line = self.small("a line number")?;
            let column = self.small("a column number")?;
            loc.inlined_at = Some(InlinedAt { function, function_offset, file, line, column });
        }
        Ok(loc)
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.token.kind == TokenKind::Name && self.token.text == word {
            self.bump()?;
            Ok(())
        } else {
            Err(self.expected(&format!("`{word}`")))
        }
    }

    fn instruction(&mut self, start: Span, guard: Option<Guard>, opcode: &str) -> Parsed<Statement> {
        let mut modifiers = Vec::new();
        while self.token.kind == TokenKind::Dot {
            modifiers.push(self.bump()?.text.to_owned());
        }
        self.in_call = opcode == "call";
        let mut operands = Vec::new();
        while !self.at(b';') {
            operands.push(self.operand(0)?);
            if !self.eat(b',')? && !self.at(b';') {
                return Err(self.expected("`,` or `;`"));
            }
        }
        self.expect(b';')?;
        Ok(Statement::Instruction(Instruction {
            span: self.since(start),
            guard,
            opcode: opcode.to_owned(),
            modifiers,
            operands,
        }))
    }
}
