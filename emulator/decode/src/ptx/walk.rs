//! Visits statements, names and calls in the text of functions, without the meaning of a name.

use std::collections::HashSet;

use ptx::ast::{Function, FunctionKind, Instruction, Item, Operand, Statement, Variable};

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

/// Counts the statements of a function, nested blocks included.
pub(crate) fn n_statements(function: &Function) -> u64 {
    let mut n = 1;
    for_each_statement(function.body.as_deref().unwrap_or_default(), &mut |_| n += 1);
    n
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
                let body = f.body.as_deref().unwrap_or_default();
                for_each_variable(body, &mut |v| {
                    v.init.iter().for_each(|init| init.for_each_name(&mut see));
                });
                for_each_instruction(body, &mut |instruction| {
                    if instruction.opcode != "call" {
                        instruction.operands.iter().for_each(|operand| operand.for_each_name(&mut see));
                        return;
                    }
                    let parts = CallParts::of(instruction);
                    parts.arguments.iter().for_each(|operand| operand.for_each_name(&mut see));
                });
            }
            Item::Alias { .. } | Item::Pragma(..) | Item::Section(..) => {}
        }
    }
    found
}
