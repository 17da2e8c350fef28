//! Visits statements, names and calls in the text of functions, without the meaning of a name.

use std::collections::HashSet;

use ptx::ast::{Function, FunctionKind, Instruction, Item, Operand, Statement, Variable};

/// Lists the statements of a function, nested blocks included.
pub(crate) fn statements(function: &Function) -> impl Iterator<Item = &Statement> {
    let mut stack = vec![function.body.as_deref().unwrap_or_default().iter()];
    std::iter::from_fn(move || {
        while let Some(top) = stack.last_mut() {
            let next = top.next();
            match next {
                Some(Statement::Block(inner)) => stack.push(inner.iter()),
                Some(_) => {}
                None => drop(stack.pop()),
            }
            if next.is_some() {
                return next;
            }
        }
        None
    })
}

/// Lists the instructions of a function, nested blocks included.
pub(crate) fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    statements(function).filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

/// Lists the variables declared in a function, nested blocks included.
pub(crate) fn variables(function: &Function) -> impl Iterator<Item = &Variable> {
    statements(function).filter_map(|statement| match statement {
        Statement::Variable(variable) => Some(variable),
        _ => None,
    })
}

/// Parts of `call (returns), function, (arguments), prototype;`. Only the function is mandatory.
pub(crate) struct CallParts<'a> {
    pub(crate) returns: &'a [Operand],
    pub(crate) callee: Option<&'a str>,
    pub(crate) arguments: &'a [Operand],
    pub(crate) prototype: Option<&'a str>,
}

impl<'a> CallParts<'a> {
    pub(crate) fn of(instruction: &'a Instruction) -> Self {
        let mut operands = instruction.operands.iter().peekable();
        let list = |operands: &mut std::iter::Peekable<std::slice::Iter<'a, Operand>>| match operands.peek() {
            Some(Operand::List(list)) => {
                operands.next();
                &list[..]
            }
            _ => &[],
        };
        let returns = list(&mut operands);
        let name = |operand: Option<&'a Operand>| match operand {
            Some(Operand::Name(name)) => Some(name.as_str()),
            _ => None,
        };
        let callee = name(operands.next());
        let arguments = list(&mut operands);
        Self { returns, callee, arguments, prototype: name(operands.next()) }
    }
}

/// Lists the functions whose addresses a module takes, in text order.
pub(crate) fn addressed_functions<'a>(
    module: &'a [Item], function: impl Fn(&str) -> Option<&'a Function>,
) -> Vec<&'a Function> {
    let mut found: Vec<&'a Function> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut see = |name: &String| {
        if let Some(f) = function(name)
            && f.kind == FunctionKind::Func
            && f.body.is_some()
            && known.insert(&f.name)
        {
            found.push(f);
        }
    };
    for item in module {
        match item {
            Item::Variable(v) => v.init.iter().for_each(|init| init.for_each_name(&mut see)),
            Item::Function(f) => {
                variables(f).filter_map(|v| v.init.as_ref()).for_each(|init| init.for_each_name(&mut see));
                for instruction in instructions(f) {
                    let operands = match instruction.opcode.as_str() {
                        "call" => CallParts::of(instruction).arguments,
                        _ => &instruction.operands,
                    };
                    operands.iter().for_each(|operand| operand.for_each_name(&mut see));
                }
            }
            Item::Alias { .. } | Item::Pragma(..) | Item::Section(..) => {}
        }
    }
    found
}
