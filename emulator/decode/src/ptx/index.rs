//! Looks up functions, variables and aliases of a module by name.

use std::cell::OnceCell;

use ptx::Span;
use ptx::ast::{Function, FunctionKind, Item, Module, Space, Variable};

use super::walk::addressed_functions;
use crate::error::{Result, invalid, unsupported};
use crate::hash::QuickMap;
use program::limits::Account;
use program::{FUNCTION_BYTES, window};

/// Bound on the nesting of blocks, and of calls.
pub(crate) const MAX_DEPTH: usize = 100;

/// The functions, variables and aliases of a module, by name.
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
    /// Returns whether the module is compiled for this target alone, such as `sm_90a`.
    pub(crate) fn is_for(&self, target: &str) -> bool {
        self.module.target.iter().any(|word| word == target)
    }

    /// Looks through a module.
    ///
    /// # Errors
    /// Returns an error if a function is defined twice.
    pub(crate) fn new(module: &'a Module, account: &'a Account) -> Result<Index<'a>> {
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
                    match known.filter(|known| known.body.is_some()) {
                        None => drop(index.functions.insert(&f.name, f)),
                        Some(_) if f.body.is_some() => {
                            return Err(invalid(f.span, format!("`{}` is defined twice", f.name)));
                        }
                        Some(_) => {}
                    }
                }
                Item::Alias { name, target, .. } => {
                    index.aliases.insert(name, target);
                }
                Item::Pragma(..) | Item::Section(..) => {}
            }
        }
        Ok(index)
    }

    pub(crate) fn function(&self, name: &str) -> Option<&'a Function> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        self.functions.get(name).copied()
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&'a Variable> {
        self.variables.get(name).copied()
    }

    /// Returns the functions whose addresses the module takes.
    pub(crate) fn addressed(&self) -> impl Iterator<Item = &'a Function> {
        let numbers = self.addressed.get_or_init(|| {
            let found = addressed_functions(&self.module.items, |name| self.function(name));
            let number = |function: &&Function| self.numbers.get(function.name.as_str()).copied();
            found.iter().filter_map(number).collect()
        });
        numbers.iter().filter_map(|&number| self.function(self.names[number as usize]))
    }

    /// Returns the address of a function. No memory is there.
    pub(crate) fn address_of(&self, function: &Function) -> u64 {
        let number = self.numbers.get(function.name.as_str()).copied().unwrap_or(0);
        window::CODE + FUNCTION_BYTES * (1 + u64::from(number))
    }

    /// Returns the address of a function that can be called through it.
    pub(crate) fn callable(&self, function: &Function, span: Span) -> Result<u64> {
        let name = &function.name;
        refuse_if!(function.kind == FunctionKind::Entry, unsupported(span, format!("the address of kernel `{name}`")));
        if function.body.is_none() {
            return Err(invalid(
                span,
                format!("nothing defines the external function `{name}`, whose address is taken"),
            ));
        }
        Ok(self.address_of(function))
    }
}

/// Returns the bytes of a variable; `None` if its first dimension is left open.
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

/// Returns the alignment of a variable: as written, or natural.
pub(crate) fn align_of(variable: &Variable) -> Result<u32> {
    let natural = variable.ty.bytes().max(1) * variable.vector.max(1);
    let align = variable.align.unwrap_or(natural);
    if !align.is_power_of_two() || align > 1 << 16 {
        return Err(invalid(
            variable.span,
            format!("alignment {align} of `{}` is not a power of two up to 65536", variable.name),
        ));
    }
    Ok(align.max(variable.ty.bytes().max(1)))
}

/// Returns whether the launch determines the variable's size.
pub(crate) fn is_dynamic(variable: &Variable) -> bool {
    variable.space == Space::Shared && matches!(variable.dims.first(), Some(None))
}
