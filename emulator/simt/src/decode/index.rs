//! A module's names, and which functions and variables a kernel reaches.

use std::collections::HashSet;

use ptx::Span;
use ptx::ast::{Function, Instruction, Item, Module, Operand, Space, Statement, Variable};

use super::error::{Result, invalid, unsupported};
use super::hash::QuickMap;
use crate::limits::{Account, STATEMENT_STEPS};

/// Deepest nesting of blocks, and of calls.
pub(super) const MAX_DEPTH: usize = 100;

/// A module's names.
#[derive(Debug)]
pub(super) struct Index<'a> {
    functions: QuickMap<&'a str, &'a Function>,
    variables: QuickMap<&'a str, &'a Variable>,
    aliases: QuickMap<&'a str, &'a str>,
    /// Shared variables at module scope, by name.
    pub(super) shared: QuickMap<&'a str, Vec<&'a Variable>>,
    /// What loading the module may take.
    pub(super) account: &'a Account,
}

impl<'a> Index<'a> {
    pub(super) fn new(module: &'a Module, account: &'a Account) -> Index<'a> {
        let mut index = Index {
            functions: QuickMap::default(),
            variables: QuickMap::default(),
            aliases: QuickMap::default(),
            shared: QuickMap::default(),
            account,
        };
        for item in &module.items {
            match item {
                Item::Variable(v) => {
                    index.variables.insert(&v.name, v);
                    if v.space == Space::Shared {
                        index.shared.entry(&v.name).or_default().push(v);
                    }
                }
                Item::Function(f) => {
                    let known = index.functions.get(f.name.as_str());
                    // A declaration never hides the definition.
                    if known.is_none_or(|k| k.body.is_none()) {
                        index.functions.insert(&f.name, f);
                    }
                }
                Item::Alias { name, target, .. } => {
                    index.aliases.insert(name, target);
                }
                Item::Pragma(..) | Item::Section(..) => {}
            }
        }
        index
    }

    pub(super) fn function(&self, name: &str) -> Option<&'a Function> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.functions.get(name).copied()
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'a Variable> {
        self.variables.get(name).copied()
    }

    /// Functions that `kernel` reaches, itself first. Recursion is refused here.
    pub(super) fn reach(&self, kernel: &'a Function) -> Result<Vec<&'a Function>> {
        let mut order: Vec<&Function> = Vec::new();
        let mut done: HashSet<&str> = HashSet::new();
        let mut path: Vec<&str> = Vec::new();
        self.walk(kernel, &mut order, &mut done, &mut path)?;
        Ok(order)
    }

    fn walk(
        &self,
        function: &'a Function,
        order: &mut Vec<&'a Function>,
        done: &mut HashSet<&'a str>,
        path: &mut Vec<&'a str>,
    ) -> Result<()> {
        if path.len() > MAX_DEPTH {
            return Err(unsupported(
                function.span,
                format!("a chain of more than {MAX_DEPTH} calls"),
            ));
        }
        self.account.steps(n_statements(function) * STATEMENT_STEPS / 2)?;
        order.push(function);
        path.push(&function.name);
        let mut calls = Vec::new();
        for_each_instruction(function.body.as_deref().unwrap_or_default(), &mut |instruction| {
            if let Some(callee) = callee(instruction) {
                calls.push((callee, instruction.span));
            }
        });
        for (name, span) in calls {
            let Some(callee) = self.function(name) else {
                continue;
            };
            if path.contains(&callee.name.as_str()) {
                return Err(unsupported(
                    span,
                    format!("recursion (`{}` calls itself)", callee.name),
                ));
            }
            if callee.body.is_some() && !done.contains(callee.name.as_str()) {
                self.walk(callee, order, done, path)?;
            }
        }
        path.pop();
        done.insert(&function.name);
        Ok(())
    }
}

/// The name after `call`, when it is a call.
pub(super) fn callee(instruction: &Instruction) -> Option<&str> {
    if instruction.opcode != "call" {
        return None;
    }
    instruction.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Calls `f` for each instruction, however deep in blocks.
pub(super) fn for_each_instruction<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Instruction)) {
    let mut stack = vec![body.iter()];
    while let Some(top) = stack.last_mut() {
        match top.next() {
            Some(Statement::Instruction(instruction)) => f(instruction),
            Some(Statement::Block(inner)) => stack.push(inner.iter()),
            Some(_) => {}
            None => {
                stack.pop();
            }
        }
    }
}

/// Statements of a function, however deep in blocks.
pub(super) fn n_statements(function: &Function) -> u64 {
    let mut n = 1;
    let mut stack = vec![function.body.as_deref().unwrap_or_default()];
    while let Some(body) = stack.pop() {
        n += body.len() as u64;
        stack.extend(body.iter().filter_map(|statement| match statement {
            Statement::Block(inner) => Some(&inner[..]),
            _ => None,
        }));
    }
    n
}

/// Calls `f` for each variable declared in a body, however deep in blocks.
pub(super) fn for_each_variable<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Variable)) {
    let mut stack = vec![body.iter()];
    while let Some(top) = stack.last_mut() {
        match top.next() {
            Some(Statement::Variable(variable)) => f(variable),
            Some(Statement::Block(inner)) => stack.push(inner.iter()),
            Some(_) => {}
            None => {
                stack.pop();
            }
        }
    }
}

/// Calls `f` for each name in an operand.
pub(super) fn for_each_name<'a>(operand: &'a Operand, f: &mut dyn FnMut(&'a str)) {
    match operand {
        Operand::Name(name) | Operand::NotPred(name) | Operand::NameOffset { name, .. } => f(name),
        Operand::Address { base: Some(name), .. } | Operand::Component(name, _) => f(name),
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|o| for_each_name(o, f)),
        Operand::Pair(a, b) => {
            for_each_name(a, f);
            for_each_name(b, f);
        }
        Operand::Texture { handles, coordinates } => {
            handles
                .iter()
                .chain(coordinates)
                .for_each(|o| for_each_name(o, f));
        }
        Operand::Address { base: None, .. } | Operand::Immediate(_) => {}
    }
}

/// Bytes of a variable; `None` for an array whose first dimension is left open.
pub(super) fn size_of(variable: &Variable) -> Result<Option<u64>> {
    let too_big = |span: Span| invalid(span, format!("`{}` is too big", variable.name));
    let mut bytes = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    for dim in &variable.dims {
        match dim {
            Some(n) => bytes = bytes.checked_mul(*n).ok_or_else(|| too_big(variable.span))?,
            None => return Ok(None),
        }
    }
    if bytes > 1 << 40 {
        return Err(too_big(variable.span));
    }
    Ok(Some(bytes))
}

/// Alignment of a variable: as written, or natural.
pub(super) fn align_of(variable: &Variable) -> Result<u32> {
    let natural = variable.ty.bytes().max(1) * variable.vector.max(1);
    let align = variable.align.unwrap_or(natural);
    if !align.is_power_of_two() || align > 1 << 16 {
        return Err(invalid(
            variable.span,
            format!(
                "alignment {align} of `{}` is no power of two up to 65536",
                variable.name
            ),
        ));
    }
    Ok(align.max(variable.ty.bytes().max(1)))
}

/// Whether a variable's size is left to the launch.
pub(super) fn is_dynamic(variable: &Variable) -> bool {
    variable.space == Space::Shared && matches!(variable.dims.first(), Some(None))
}
