//! Looks up functions, variables and aliases of a module by name.

use std::cell::OnceCell;

use ptx::Span;
use ptx::ast::{Function, FunctionKind, Instruction, Item, Module, Operand, Space, Statement, Variable};

use super::call_graph;
use crate::error::{Result, invalid, unsupported};
use crate::hash::QuickMap;
use program::limits::Account;
use program::{FUNCTION_BYTES, window};

/// Bound on the nesting of blocks, and of calls.
pub(crate) const MAX_DEPTH: usize = 100;

#[derive(Debug)]
pub(crate) struct Index<'a> {
    functions: QuickMap<&'a str, &'a Function>,
    variables: QuickMap<&'a str, &'a Variable>,
    aliases: QuickMap<&'a str, &'a str>,
    module: &'a Module,
    /// Number of each function in the module.
    numbers: QuickMap<&'a str, u32>,
    names: Vec<&'a str>,
    /// Numbers of functions whose addresses are taken; computed on first use.
    addressed: OnceCell<Box<[u32]>>,
    /// Shared variables at module scope, by name.
    pub(crate) shared: QuickMap<&'a str, Vec<&'a Variable>>,
    pub(crate) account: &'a Account,
}

impl<'a> Index<'a> {
    /// True if the module is compiled for this target alone, such as `sm_90a`.
    pub(crate) fn is_for(&self, target: &str) -> bool {
        self.module.target.iter().any(|word| word == target)
    }

    pub(crate) fn new(module: &'a Module, account: &'a Account) -> Index<'a> {
        let mut index = Index {
            functions: QuickMap::default(),
            variables: QuickMap::default(),
            aliases: QuickMap::default(),
            module,
            numbers: QuickMap::default(),
            names: Vec::new(),
            addressed: OnceCell::new(),
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
                    let number = index.names.len() as u32;
                    if !index.numbers.contains_key(f.name.as_str()) {
                        index.numbers.insert(&f.name, number);
                        index.names.push(&f.name);
                    }
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

    pub(crate) fn function(&self, name: &str) -> Option<&'a Function> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.functions.get(name).copied()
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&'a Variable> {
        self.variables.get(name).copied()
    }

    pub(crate) fn addressed(&self) -> impl Iterator<Item = &'a Function> {
        let numbers = self.addressed.get_or_init(|| {
            let found = call_graph::addressed(&self.module.items, |name| self.function(name));
            let number = |function: &&Function| self.numbers.get(function.name.as_str()).copied();
            found.iter().filter_map(number).collect()
        });
        { numbers }.iter().filter_map(|&number| self.function(self.names[number as usize]))
    }

    /// Address of a function, which is not in memory.
    pub(crate) fn address_of(&self, function: &Function) -> u64 {
        let number = self.numbers.get(function.name.as_str()).copied().unwrap_or(0);
        window::CODE + FUNCTION_BYTES * (1 + u64::from(number))
    }

    /// Address of a function that can be called through it.
    pub(crate) fn callable(&self, function: &Function, span: Span) -> Result<u64> {
        let name = &function.name;
        if function.kind == FunctionKind::Entry {
            return Err(unsupported(span, format!("the address of kernel `{name}`")));
        }
        if function.body.is_none() {
            return Err(invalid(
                span,
                format!("nothing defines the external function `{name}`, whose address is taken"),
            ));
        }
        Ok(self.address_of(function))
    }
}

/// Calls `f` for each statement, nested blocks included.
fn for_each_statement<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    let mut stack = vec![body.iter()];
    while let Some(top) = stack.last_mut() {
        let Some(statement) = top.next() else {
            stack.pop();
            continue;
        };
        f(statement);
        if let Statement::Block(inner) = statement {
            stack.push(inner.iter());
        }
    }
}

/// Calls `f` for each instruction, nested blocks included.
pub(crate) fn for_each_instruction<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Instruction)) {
    for_each_statement(body, &mut |statement| {
        if let Statement::Instruction(instruction) = statement {
            f(instruction);
        }
    });
}

/// Calls `f` for each variable declared in a body, nested blocks included.
pub(crate) fn for_each_variable<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Variable)) {
    for_each_statement(body, &mut |statement| {
        if let Statement::Variable(variable) = statement {
            f(variable);
        }
    });
}

/// Number of statements of a function, nested blocks included.
pub(crate) fn n_statements(function: &Function) -> u64 {
    let mut n = 1;
    for_each_statement(function.body.as_deref().unwrap_or_default(), &mut |_| n += 1);
    n
}

pub(crate) fn for_each_name<'a>(operand: &'a Operand, f: &mut dyn FnMut(&'a str)) {
    match operand {
        Operand::Name(name) | Operand::NotPred(name) | Operand::NameOffset { name, .. } => f(name),
        Operand::Address { base: Some(name), .. } | Operand::Component(name, _) => f(name),
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|o| for_each_name(o, f)),
        Operand::Pair(a, b) => {
            for_each_name(a, f);
            for_each_name(b, f);
        }
        Operand::Texture { handles, coordinates } => {
            handles.iter().chain(coordinates).for_each(|o| for_each_name(o, f));
        }
        Operand::Address { base: None, .. } | Operand::Immediate(_) => {}
    }
}

/// Bytes of a variable; `None` if its first dimension is left open.
pub(crate) fn size_of(variable: &Variable) -> Result<Option<u64>> {
    let too_big = |span: Span| invalid(span, format!("`{}` is too big", variable.name));
    let mut bytes = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    for dim in &variable.dims {
        match dim {
            Some(n) => bytes = bytes.checked_mul(*n).ok_or_else(|| too_big(variable.span))?,
            None => return Ok(None),
        }
    }
    refuse_if!(bytes > 1 << 40, too_big(variable.span));
    Ok(Some(bytes))
}

/// Alignment of a variable: as written, or natural.
pub(crate) fn align_of(variable: &Variable) -> Result<u32> {
    let natural = variable.ty.bytes().max(1) * variable.vector.max(1);
    let align = variable.align.unwrap_or(natural);
    if !align.is_power_of_two() || align > 1 << 16 {
        return Err(invalid(
            variable.span,
            format!("alignment {align} of `{}` is no power of two up to 65536", variable.name),
        ));
    }
    Ok(align.max(variable.ty.bytes().max(1)))
}

/// True if the launch determines the variable's size.
pub(crate) fn is_dynamic(variable: &Variable) -> bool {
    variable.space == Space::Shared && matches!(variable.dims.first(), Some(None))
}
