//! Names that a statement may change, as far as its text shows. What is built on it is checked later.

use std::collections::HashSet;
use std::rc::Rc;

use crate::tree::{
    Expression, ExpressionKind, Initializer, Statement, StatementKind, TemplateArgument, UnaryOp, Variable,
};

#[derive(Debug, Default)]
pub(super) struct Touched {
    pub names: HashSet<Rc<str>>,
    /// Arguments of calls, which a reference or pointer may change.
    pub passed: HashSet<Rc<str>>,
    /// True if something is called, read from memory or assigned that is more than a name.
    pub is_complex: bool,
    /// Expressions and statements: a measure of size.
    pub size: usize,
    /// Barriers and other calls, which the size does not measure.
    pub calls: usize,
}

impl Touched {
    fn add_root(one: &Expression, names: &mut HashSet<Rc<str>>) {
        match &one.kind {
            ExpressionKind::Name { name, .. } => {
                names.insert(name.text.clone());
            }
            ExpressionKind::Subscript(of, _)
            | ExpressionKind::Parentheses(of)
            | ExpressionKind::Member { of, is_arrow: false, .. }
            | ExpressionKind::Cast(_, _, of)
            | ExpressionKind::Unary(UnaryOp::Address, of) => Self::add_root(of, names),
            ExpressionKind::Binary(_, a, b) => {
                Self::add_root(a, names);
                Self::add_root(b, names);
            }
            _ => {}
        }
    }

    pub(super) fn expression(&mut self, one: &Expression) {
        self.size += 1;
        match &one.kind {
            ExpressionKind::Unary(op, of) => {
                if *op == UnaryOp::Address {
                    Self::add_root(of, &mut self.names);
                }
                self.is_complex |= matches!(op, UnaryOp::Address | UnaryOp::Deref);
                self.expression(of);
            }
            ExpressionKind::Binary(_, a, b) | ExpressionKind::Comma(a, b) => {
                self.expression(a);
                self.expression(b);
            }
            ExpressionKind::Subscript(a, b) => {
                self.is_complex = true;
                self.expression(a);
                self.expression(b);
            }
            ExpressionKind::Assign(_, to, value) => {
                Self::add_root(to, &mut self.names);
                self.is_complex |= !matches!(to.kind, ExpressionKind::Name { .. });
                self.expression(to);
                self.expression(value);
            }
            ExpressionKind::Step { of, .. } => {
                Self::add_root(of, &mut self.names);
                self.is_complex |= !matches!(of.kind, ExpressionKind::Name { .. });
                self.expression(of);
            }
            ExpressionKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|one| self.expression(one)),
            ExpressionKind::Call(function, arguments) => {
                self.is_complex = true;
                self.calls += 1;
                self.expression(function);
                for one in arguments {
                    Self::add_root(one, &mut self.passed);
                    self.expression(one);
                }
            }
            ExpressionKind::Member { of, is_arrow, .. } => {
                self.is_complex |= *is_arrow;
                self.expression(of);
            }
            ExpressionKind::Cast(_, _, of) | ExpressionKind::Parentheses(of) => self.expression(of),
            ExpressionKind::Construct(_, list) => list.iter().for_each(|one| self.initializer(one)),
            ExpressionKind::Name { arguments: Some(arguments), .. } => {
                self.is_complex |= arguments.iter().any(|one| matches!(one, TemplateArgument::Value(_)));
            }
            _ => {}
        }
    }

    fn initializer(&mut self, one: &Initializer) {
        match one {
            Initializer::Expression(one) => self.expression(one),
            Initializer::List(_, list) => list.iter().for_each(|one| self.initializer(one)),
            Initializer::Arguments(_, list) => list.iter().for_each(|one| self.expression(one)),
        }
    }

    fn variable(&mut self, one: &Variable) {
        // A reference may be changed: so may what it refers to.
        if let (crate::tree::TypeKind::Reference(to), Some(Initializer::Expression(value))) = (&one.ty.kind, &one.value)
            && !to.is_const
        {
            Self::add_root(value, &mut self.names);
        }
        if let Some(value) = &one.value {
            // A pointer may be to an array.
            if let Initializer::Expression(value) = value {
                Self::add_root(value, &mut self.passed);
            }
            self.initializer(value);
        }
    }

    pub(super) fn statement(&mut self, one: &Statement) {
        self.size += 1;
        match &one.kind {
            StatementKind::Expression(one) => self.expression(one),
            StatementKind::Variables(list) => list.iter().for_each(|one| self.variable(one)),
            StatementKind::Block(list) => list.iter().for_each(|one| self.statement(one)),
            StatementKind::If { first, condition, then, otherwise, .. } => {
                self.expression(condition);
                let parts = [first.as_ref(), Some(then), otherwise.as_ref()];
                parts.into_iter().flatten().for_each(|one| self.statement(one));
            }
            StatementKind::For { first, condition, step, body, .. } => {
                [condition, step].into_iter().flatten().for_each(|one| self.expression(one));
                [first.as_ref(), Some(body)].into_iter().flatten().for_each(|one| self.statement(one));
            }
            StatementKind::DoWhile { body, condition, .. } => {
                self.expression(condition);
                self.statement(body);
            }
            StatementKind::Switch { on, body } => {
                self.expression(on);
                body.iter().for_each(|one| self.statement(one));
            }
            StatementKind::Return(Some(value)) => self.initializer(value),
            StatementKind::Asm => self.calls += 1,
            _ => {}
        }
    }
}

/// Returns what a loop may change.
pub(super) fn of_loop(condition: Option<&Expression>, step: Option<&Expression>, body: &Statement) -> Touched {
    let mut touched = Touched::default();
    [condition, step].into_iter().flatten().for_each(|one| touched.expression(one));
    touched.statement(body);
    touched
}
