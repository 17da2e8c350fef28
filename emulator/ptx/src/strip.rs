//! Trees without positions, for comparisons of texts.

use crate::ast::{Item, Module, Statement, Variable};
use crate::span::Span;

impl Module {
    /// Sets every span to zero. Texts that differ only in layout give equal results.
    pub fn without_spans(mut self) -> Module {
        let none = Span::default();
        for item in &mut self.items {
            match item {
                Item::Variable(variable) => variable.span = none,
                Item::Function(function) => {
                    function.span = none;
                    variables(&mut function.returns);
                    variables(&mut function.params);
                    statements(function.body.as_deref_mut().unwrap_or_default());
                }
                Item::Alias { span, .. } | Item::Pragma(span, _) | Item::Section(span, _) => *span = none,
            }
        }
        self
    }
}

fn variables(list: &mut [Variable]) {
    list.iter_mut().for_each(|variable| variable.span = Span::default());
}

fn statements(list: &mut [Statement]) {
    let none = Span::default();
    for statement in list {
        match statement {
            Statement::Label(span, _)
            | Statement::Pragma(span, _)
            | Statement::BranchTargets { span, .. }
            | Statement::CallTargets { span, .. } => *span = none,
            Statement::Instruction(instruction) => instruction.span = none,
            Statement::Reg(reg) => reg.span = none,
            Statement::Variable(variable) => variable.span = none,
            Statement::Block(inner) => statements(inner),
            Statement::Loc(_) => {}
            Statement::CallPrototype { span, returns, params, .. } => {
                *span = none;
                variables(returns);
                variables(params);
            }
        }
    }
}
