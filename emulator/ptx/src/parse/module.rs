//! Module scope: directives, variables, functions, debug sections.

use super::{Parsed, Parser};
use crate::ast::{Function, FunctionKind, Item, Linkage, Module, SourceFile};
use crate::lex::TokenKind;

/// Performance-tuning and other directives between a function's parameters and its body.
const DIRECTIVES: [&str; 14] = [
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "local_maxnreg",
    "maxclusterrank",
    "reqnctapercluster",
    "maxnctapercluster",
    "explicitcluster",
    "blocksareclusters",
    "abi_preserve",
    "abi_preserve_control",
    "minreg",
];

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Parsed<Module> {
        let version = self.version()?;
        let mut module = Module { version, target: Vec::new(), address_size: 32, files: Vec::new(), items: Vec::new() };
        if !self.at_dot("target") {
            return Err(self.expected("`.target`"));
        }
        while self.token.kind != TokenKind::End {
            self.directive(&mut module)?;
        }
        Ok(module)
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        if !self.eat_dot("version")? {
            return Err(self.expected("`.version`, with which a PTX module starts"));
        }
        let number = self.token;
        let parts = number.text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some(version) if number.kind == TokenKind::Number => {
                self.bump()?;
                Ok(version)
            }
            _ => Err(self.expected("a version such as `8.4`")),
        }
    }

    fn directive(&mut self, module: &mut Module) -> Parsed<()> {
        let start = self.token.span;
        if self.eat(b';')? {
            return Ok(());
        }
        if self.token.kind != TokenKind::Dot {
            // LLVM ends the DWARF of rustc with a label, at which ptxas (12.4 to 13.5) stops as well.
            return Err(self.expected(match self.token.text.starts_with("$L__sec_end") {
                true => {
                    "a directive (ptxas takes no label here; rustc leaves it out with -Cdebuginfo=line-directives-only)"
                }
                false => "a directive",
            }));
        }
        match self.token.text {
            "target" => {
                self.bump()?;
                module.target.extend(self.list(|p| p.name("a target such as `sm_80`").map(str::to_owned))?);
            }
            "address_size" => {
                self.bump()?;
                module.address_size = self.small("an address size")?;
            }
            "file" => self.file(&mut module.files)?,
            "loc" => {
                // A `.loc` has no use at module scope.
                self.loc()?;
            }
            "pragma" => module.items.push(Item::Pragma(start, self.pragma()?)),
            "section" => {
                let text = self.section()?;
                module.items.push(Item::Section(self.since(start), text));
            }
            "alias" => {
                self.bump()?;
                let name = self.name("a name")?.to_owned();
                self.expect(b',')?;
                let target = self.name("a function")?.to_owned();
                self.expect(b';')?;
                module.items.push(Item::Alias { span: self.since(start), name, target });
            }
            _ => self.declaration(&mut module.items)?,
        }
        Ok(())
    }

    /// Parses `.file 1 "a.cu", 1700000000, 1234`; ignores time and size.
    pub(super) fn file(&mut self, files: &mut Vec<SourceFile>) -> Parsed<()> {
        self.bump()?;
        let index = self.small("a file number")?;
        let path = self.text("a path in quotes")?.to_owned();
        while self.eat(b',')? {
            self.integer("a number")?;
        }
        files.push(SourceFile { index, path });
        Ok(())
    }

    pub(super) fn pragma(&mut self) -> Parsed<Vec<String>> {
        self.bump()?;
        let strings = self.list(|parser| parser.text("a string").map(str::to_owned))?;
        self.expect(b';')?;
        Ok(strings)
    }

    /// Reads a section up to the closing brace, as text.
    fn section(&mut self) -> Parsed<String> {
        let start = self.bump()?.span.start;
        while !self.at(b'{') {
            if self.token.kind == TokenKind::End {
                return Err(self.expected("`{`"));
            }
            self.bump()?;
        }
        self.open(b'{', " of `.section`")?;
        while !self.at(b'}') {
            if self.token.kind == TokenKind::End || self.at(b'{') {
                return Err(self.expected("`}`"));
            }
            self.bump()?;
        }
        self.close(b'}')?;
        Ok(self.lexer.source()[start as usize..self.last.end as usize].to_owned())
    }

    fn declaration(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let mut linkage = Linkage::Internal;
        loop {
            linkage = match self.token.text {
                _ if self.token.kind != TokenKind::Dot => break,
                "visible" => Linkage::Visible,
                "extern" => Linkage::Extern,
                "weak" => Linkage::Weak,
                "common" => Linkage::Common,
                _ => break,
            };
            self.bump()?;
        }
        if self.eat_dot("entry")? {
            items.push(Item::Function(self.function(linkage, FunctionKind::Entry)?));
        } else if self.eat_dot("func")? {
            items.push(Item::Function(self.function(linkage, FunctionKind::Func)?));
        } else {
            items.extend(self.variables(linkage)?.into_iter().map(Item::Variable));
        }
        Ok(())
    }

    fn function(&mut self, linkage: Linkage, kind: FunctionKind) -> Parsed<Function> {
        let attributes = self.attributes()?;
        let returns = if kind == FunctionKind::Func { self.params()? } else { Vec::new() };
        let span = self.token.span;
        let name = self.name("a function's name")?.to_owned();
        let params = self.params()?;
        let mut function = Function {
            span,
            linkage,
            kind,
            name,
            returns,
            params,
            noreturn: false,
            attributes,
            directives: Vec::new(),
            body: None,
        };
        let mut pragmas = Vec::new();
        while self.token.kind == TokenKind::Dot {
            let start = self.token.span;
            let word = self.token.text;
            if word == "pragma" {
                pragmas.push(crate::ast::Statement::Pragma(start, self.pragma()?));
            } else if self.eat_dot("noreturn")? {
                function.noreturn = true;
            } else if DIRECTIVES.contains(&word) {
                self.bump()?;
                let numbers = match self.token.kind {
                    TokenKind::Number => self.list(|parser| parser.small("a number"))?,
                    _ => Vec::new(),
                };
                function.directives.push((word.to_owned(), numbers));
            } else {
                break;
            }
        }
        if self.at(b'{') {
            let what = match kind {
                FunctionKind::Entry => "kernel",
                FunctionKind::Func => "function",
            };
            // A pragma before the brace holds for the whole body, as one at its start does.
            let what = format!(" of {what} `{}`", crate::lex::clip(&function.name));
            function.body = Some(self.block(&what, pragmas, 0)?);
        } else if linkage == Linkage::Extern && self.token.kind == TokenKind::Dot {
            // ptxas takes a declaration without its semicolon.
        } else if !self.eat(b';')? {
            return Err(self.expected("`{`, `;` or a directive such as `.maxntid`"));
        }
        Ok(function)
    }
}
