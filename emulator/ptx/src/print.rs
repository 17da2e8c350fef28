//! Printing of trees: the printed text reads as the same tree, spans apart.
//!
//! A negative offset is printed as `+-8`, the only form that ptxas takes. Comments and spellings (`0x10`) are lost.

use crate::ast::*;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        writeln!(f, ".version {major}.{minor}")?;
        writeln!(f, ".target {}", self.target.join(", "))?;
        writeln!(f, ".address_size {}", self.address_size)?;
        for SourceFile { index, path } in &self.files {
            writeln!(f, ".file {index} \"{path}\"")?;
        }
        self.items.iter().try_for_each(|item| write!(f, "\n{item}"))
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Variable(variable) => writeln!(f, "{variable};"),
            Item::Function(function) => write!(f, "{function}"),
            Item::Alias { name, target, .. } => writeln!(f, ".alias {name}, {target};"),
            Item::Pragma(_, strings) => writeln!(f, "{}", Pragma(strings)),
            Item::Section(_, text) => writeln!(f, "{text}"),
        }
    }
}

struct Pragma<'a>(&'a [String]);

impl Display for Pragma<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(".pragma ")?;
        separated(f, self.0, |f, string| write!(f, "\"{string}\""))?;
        f.write_char(';')
    }
}

impl Linkage {
    /// Returns the directive with a trailing space: `.visible `.
    fn prefix(self) -> &'static str {
        match self {
            Linkage::Internal => "",
            Linkage::Visible => ".visible ",
            Linkage::Extern => ".extern ",
            Linkage::Weak => ".weak ",
            Linkage::Common => ".common ",
        }
    }
}

fn attributes(f: &mut Formatter<'_>, attributes: &[String]) -> fmt::Result {
    attributes.iter().try_for_each(|attribute| write!(f, ".attribute(.{attribute}) "))
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} ", self.linkage.prefix(), self.space)?;
        attributes(f, &self.attributes)?;
        if let Some(align) = self.align {
            write!(f, ".align {align} ")?;
        }
        if self.vector != 1 {
            write!(f, ".v{} ", self.vector)?;
        }
        write!(f, ".{} ", self.ty)?;
        if let Some(PtrAttribute { space, align }) = self.ptr {
            f.write_str(".ptr ")?;
            if let Some(space) = space {
                write!(f, ".{space} ")?;
            }
            if let Some(align) = align {
                write!(f, ".align {align} ")?;
            }
        }
        f.write_str(&self.name)?;
        for dim in &self.dims {
            match dim {
                Some(length) => write!(f, "[{length}]")?,
                None => f.write_str("[]")?,
            }
        }
        match &self.init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}

impl Display for Initializer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Initializer::List(list) => bracketed(f, '{', list, '}'),
            Initializer::Int(value) => write!(f, "{value}"),
            Initializer::Float(value) => write!(f, "{value}"),
            Initializer::Symbol { name, offset, generic } => {
                if *generic {
                    write!(f, "generic({name})")?;
                } else {
                    f.write_str(name)?;
                }
                if *offset != 0 { write!(f, "+{offset}") } else { Ok(()) }
            }
            Initializer::Other(text) => f.write_str(text),
        }
    }
}

impl Display for Immediate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Immediate::Int(value) => write!(f, "{value}"),
            Immediate::F32(bits) => write!(f, "0f{bits:08X}"),
            Immediate::F64(bits) => write!(f, "0d{bits:016X}"),
        }
    }
}

/// Prints a list with commas.
fn separated<T>(
    f: &mut Formatter<'_>, list: &[T], mut each: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in list.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        each(f, item)?;
    }
    Ok(())
}

fn bracketed<T: Display>(f: &mut Formatter<'_>, open: char, list: &[T], close: char) -> fmt::Result {
    f.write_char(open)?;
    separated(f, list, |f, item| item.fmt(f))?;
    f.write_char(close)
}

fn params(f: &mut Formatter<'_>, list: &[Variable]) -> fmt::Result {
    bracketed(f, '(', list, ')')
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            FunctionKind::Entry => ".entry",
            FunctionKind::Func => ".func",
        };
        write!(f, "{}{kind} ", self.linkage.prefix())?;
        attributes(f, &self.attributes)?;
        if !self.returns.is_empty() {
            params(f, &self.returns)?;
            f.write_char(' ')?;
        }
        f.write_str(&self.name)?;
        params(f, &self.params)?;
        if self.noreturn {
            f.write_str("\n.noreturn")?;
        }
        for (word, numbers) in &self.directives {
            write!(f, "\n.{word} ")?;
            separated(f, numbers, |f, number| number.fmt(f))?;
        }
        match &self.body {
            None => f.write_str(";\n"),
            Some(body) => {
                f.write_str("\n{\n")?;
                statements(f, body, 1)?;
                f.write_str("}\n")
            }
        }
    }
}

fn statements(f: &mut Formatter<'_>, list: &[Statement], depth: usize) -> fmt::Result {
    list.iter().try_for_each(|statement| {
        // Indentation is limited, or the text of deep nests would grow with the square of the depth.
        (0..depth.min(8)).try_for_each(|_| f.write_char('\t'))?;
        match statement {
            Statement::Block(inner) => {
                f.write_str("{\n")?;
                statements(f, inner, depth + 1)?;
                f.write_str("}\n")
            }
            other => writeln!(f, "{}", StatementLine(other)),
        }
    })
}

/// A statement that is not a block.
struct StatementLine<'a>(&'a Statement);

impl Display for StatementLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Statement::Label(_, name) => write!(f, "{name}:"),
            Statement::Instruction(instruction) => write!(f, "{instruction}"),
            Statement::Reg(reg) => write!(f, "{reg};"),
            Statement::Variable(variable) => write!(f, "{variable};"),
            Statement::Block(inner) => statements(f, inner, 0),
            Statement::Loc(loc) => write!(f, "{loc}"),
            Statement::Pragma(_, strings) => write!(f, "{}", Pragma(strings)),
            Statement::BranchTargets { name, targets, .. } => {
                write!(f, "{name}: .branchtargets {};", targets.join(", "))
            }
            Statement::CallTargets { name, targets, .. } => {
                write!(f, "{name}: .calltargets {};", targets.join(", "))
            }
            Statement::CallPrototype { name, returns, params: list, .. } => {
                write!(f, "{name}: .callprototype ")?;
                params(f, returns)?;
                f.write_str(" _ ")?;
                params(f, list)?;
                f.write_char(';')
            }
        }
    }
}

impl Display for RegDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(".reg ")?;
        if self.vector != 1 {
            write!(f, ".v{} ", self.vector)?;
        }
        write!(f, ".{} ", self.ty)?;
        separated(f, &self.names, |f, (name, count)| match count {
            Some(count) => write!(f, "{name}<{count}>"),
            None => f.write_str(name),
        })
    }
}

impl Display for Loc {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)?;
        if let Some(at) = &self.inlined_at {
            write!(f, ", function_name {}", at.function)?;
            if at.function_offset != 0 {
                write!(f, "+{}", at.function_offset)?;
            }
            write!(f, ", inlined_at {} {} {}", at.file, at.line, at.column)?;
        }
        Ok(())
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(Guard { register, negated }) = &self.guard {
            write!(f, "@{}{register} ", if *negated { "!" } else { "" })?;
        }
        f.write_str(&self.opcode)?;
        self.modifiers.iter().try_for_each(|modifier| write!(f, ".{modifier}"))?;
        if !self.operands.is_empty() {
            f.write_char(' ')?;
        }
        separated(f, &self.operands, |f, operand| operand.fmt(f))?;
        f.write_char(';')
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => f.write_str(name),
            Operand::NotPred(name) => write!(f, "!{name}"),
            Operand::Immediate(value) => write!(f, "{value}"),
            Operand::Address { base: Some(base), offset: 0 } => write!(f, "[{base}]"),
            Operand::Address { base: Some(base), offset } => write!(f, "[{base}+{offset}]"),
            Operand::Address { base: None, offset } => write!(f, "[{offset}]"),
            Operand::NameOffset { name, offset } => write!(f, "{name}+{offset}"),
            Operand::Vector(list) => bracketed(f, '{', list, '}'),
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::List(list) => bracketed(f, '(', list, ')'),
            Operand::Texture { handles, coordinates } => {
                f.write_char('[')?;
                separated(f, handles, |f, handle| handle.fmt(f))?;
                f.write_str(", ")?;
                bracketed(f, '{', coordinates, '}')?;
                f.write_char(']')
            }
            Operand::Component(name, letter) => write!(f, "{name}.{letter}"),
        }
    }
}
