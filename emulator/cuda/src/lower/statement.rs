//! Statements.

use std::collections::HashMap;
use std::rc::Rc;

use super::touched::{self, Touched};
use super::{Explained as _, Lowering, Result, Rvalue, error, unsupported};
use crate::message::Message;
use crate::source::Span;
use crate::ssa::{Block, Class, Compare, End, Num, Op, Value};
use crate::tree::{BinaryOp, Expression, ExpressionKind, Initializer, Name, Statement, StatementKind, UnaryOp, Unroll};
use crate::types::Type;

/// Rounds of a loop that is unrolled because the source says so.
const MAX_ROUNDS: usize = 4096;
/// Rounds times size of a loop that is unrolled although the source does not say so.
const UNROLLED_SIZE: usize = 900;
/// Rounds for one test of the end of a loop whose rounds are not known, as NVRTC has them.
const UNROLLED_BY: usize = 4;

/// A part of a variable, and the value that it has in each round of a loop.
struct Assumed {
    object: u64,
    variable: u32,
    value: Value,
}

impl Lowering<'_> {
    pub(super) fn statements(&mut self, list: &[Statement]) -> Result<()> {
        list.iter().try_for_each(|one| self.statement(one))
    }

    fn scoped(&mut self, lower: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.frame().scopes.push(super::Scope::new());
        let result = lower(self);
        self.frame().scopes.pop();
        result
    }

    pub(super) fn statement(&mut self, one: &Statement) -> Result<()> {
        self.step(one.span)?;
        self.at_statement(one.span);
        match &one.kind {
            StatementKind::Empty => Ok(()),
            StatementKind::Expression(expression) => self.discarded(expression),
            StatementKind::Variables(list) => list.iter().try_for_each(|variable| {
                self.at(variable.span);
                self.declare(variable)
            }),
            StatementKind::Alias(alias) => {
                let ty = self.resolve(&alias.ty)?;
                self.bind(&alias.name, super::Binding::Type(ty))
            }
            StatementKind::Assert(assert) => self.assert(assert),
            StatementKind::Block(list) => self.scoped(|this| this.statements(list)),
            StatementKind::If { is_constexpr, first, condition, then, otherwise } => self.scoped(|this| {
                this.head(first.as_deref(), [Some(&**then), otherwise.as_deref()])?;
                this.if_else(*is_constexpr, condition, then, otherwise.as_deref())
            }),
            StatementKind::For { unroll, first, condition, step, body } => self.scoped(|this| {
                this.head(first.as_deref(), [Some(&**body), None])?;
                this.loop_of(one.span, unroll, condition.as_ref(), step.as_ref(), body)
            }),
            StatementKind::DoWhile { unroll, body, condition } => self.do_while(one.span, unroll, body, condition),
            StatementKind::Switch { on, body } => self.scoped(|this| this.switch(on, body)),
            StatementKind::Case(_) | StatementKind::Default => {
                unsupported(one.span, "a `case` that is not directly inside of a `switch`")
            }
            StatementKind::Break | StatementKind::Continue => {
                let is_break = matches!(one.kind, StatementKind::Break);
                let found = self.frame().leave.iter().rev().find_map(
                    |&(leave, next)| {
                        if is_break { Some(leave) } else { next }
                    },
                );
                let word = if is_break { "break" } else { "continue" };
                let Some(to) = found else {
                    return error(one.span, format!("`{word}` outside of a loop"));
                };
                self.graph.jump(to);
                self.graph.begin_unreachable();
                Ok(())
            }
            StatementKind::Return(value) => self.returned(one.span, value.as_ref()),
            StatementKind::Asm => unsupported(one.span, "`asm`"),
        }
    }

    /// Lowers the declaration in the head of a statement, whose names its bodies do not declare again.
    fn head(&mut self, first: Option<&Statement>, bodies: [Option<&Statement>; 2]) -> Result<()> {
        let Some(first) = first else { return Ok(()) };
        for body in bodies.into_iter().flatten() {
            let inside = match &body.kind {
                StatementKind::Block(list) => &list[..],
                _ => std::slice::from_ref(body),
            };
            for name in declared(first) {
                if let Some(again) = inside.iter().flat_map(declared).find(|again| again.text == name.text) {
                    return Err(super::twice(again, name.span));
                }
            }
        }
        self.statement(first)
    }

    fn returned(&mut self, span: Span, value: Option<&Initializer>) -> Result<()> {
        let returns = self.frame().returns.clone();
        match (value, &returns) {
            (None, Type::Void) => {}
            (None, _) => {
                let text = format!("`return` without a value in a function that returns `{returns}`");
                self.warn(Message::warning(span, text).help("write the value after `return`"));
            }
            (Some(Initializer::Expression(value)), Type::Void) => {
                let found = self.rvalue(value)?;
                if found.ty != Type::Void {
                    let text = format!("`return` with a value of `{}` in a function that returns nothing", found.ty);
                    return error(value.span, text).help("write `return;`");
                }
            }
            (Some(value), _) => {
                if let Some(result) = self.frame().result.clone() {
                    self.initialize(&result, Some(value))?;
                }
            }
        }
        let exit = self.frame().exit;
        self.graph.jump(exit);
        self.graph.begin_unreachable();
        Ok(())
    }

    pub(super) fn assert(&mut self, assert: &crate::tree::Assert) -> Result<()> {
        if self.constant(&assert.condition)? == 0 {
            let text = match &assert.text {
                Some(text) => format!("this does not hold: {text}"),
                None => "this does not hold".to_owned(),
            };
            return error(assert.span, text).label("`static_assert` is false here");
        }
        Ok(())
    }

    pub(super) fn condition(&mut self, condition: &Expression) -> Result<Value> {
        let value = self.rvalue(condition)?;
        self.truth(&value, condition.span)
    }

    fn if_else(
        &mut self, is_constexpr: bool, condition: &Expression, then: &Statement, otherwise: Option<&Statement>,
    ) -> Result<()> {
        let [then_block, else_block, join] = [(); 3].map(|()| self.graph.block());
        let to = if otherwise.is_some() { else_block } else { join };
        self.branch(condition, then_block, to)?;
        let reached = [then_block, to].map(|block| self.graph.is_reached(block));
        if is_constexpr && reached == [true, true] {
            return error(condition.span, "the condition of `if constexpr` must be a constant");
        }
        // What a constant rules out may be wrong for it, as in `if constexpr`.
        if reached[0] != reached[1] {
            let taken = if reached[0] { Some(then) } else { otherwise };
            let block = if reached[0] { then_block } else { to };
            self.graph.go_on(block);
            return taken.map_or(Ok(()), |taken| self.scoped(|this| this.statement(taken)));
        }
        self.graph.go_on(then_block);
        self.scoped(|this| this.statement(then))?;
        self.graph.jump(join);
        if let Some(otherwise) = otherwise {
            self.graph.go_on(else_block);
            self.scoped(|this| this.statement(otherwise))?;
            self.graph.jump(join);
        }
        self.graph.go_on(join);
        Ok(())
    }

    /// Ends a block by a condition. The part of `a && b` and `a || b` that is tested second is tested together with the
    /// first where that has no effect.
    fn branch(&mut self, condition: &Expression, then: Block, other: Block) -> Result<()> {
        match &condition.kind {
            ExpressionKind::Parentheses(inner) if !matches!(inner.kind, ExpressionKind::Assign(..)) => {
                return self.branch(inner, then, other);
            }
            ExpressionKind::Unary(UnaryOp::Not, inner) => return self.branch(inner, other, then),
            ExpressionKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), a, b) => {
                let is_and = *op == BinaryOp::LogicalAnd;
                let second = self.graph.block();
                if is_and {
                    self.branch(a, second, other)?
                } else {
                    self.branch(a, then, second)?
                }
                self.graph.seal(second);
                if self.graph.is_reached(second) {
                    self.graph.begin(second);
                    self.branch(b, then, other)?;
                    self.graph.test_together(second);
                }
                return Ok(());
            }
            _ => {}
        }
        let value = self.condition(condition)?;
        self.graph.end(End::Branch(value, then, other));
        Ok(())
    }

    /// `for` and `while`.
    fn loop_of(
        &mut self, span: Span, unroll: &Unroll, condition: Option<&Expression>, step: Option<&Expression>,
        body: &Statement,
    ) -> Result<()> {
        let key = self.key(span);
        if let Some(condition) = condition
            && !self.choices.real.contains(&key)
        {
            let rounds = self.rounds(condition, step, body)?;
            if let Some(rounds) = rounds
                && self.is_unrolled(unroll, rounds, body)?
            {
                return self.unrolled(key, rounds, condition, step, body);
            }
        }
        let unroll = self.rounds_at_once(unroll)?;
        let exit = self.graph.block();
        self.at_statement(span);
        if let Some(condition) = condition {
            let inside = self.graph.block();
            self.branch(condition, inside, exit)?;
            self.graph.go_on(inside);
        }
        let touched = touched::of_loop(condition, step, body);
        let header = self.graph.enter_loop(unroll);
        let assumed = self.assume(key, &touched, header);
        self.round(body, step, exit)?;
        match condition {
            Some(condition) => {
                self.at_statement(span);
                self.branch(condition, header, exit)?;
            }
            None => self.graph.jump(header),
        }
        self.close_loop(key, header, exit, &assumed);
        Ok(())
    }

    /// Lowers the body of a loop and the step behind it, where `continue` goes.
    fn round(&mut self, body: &Statement, step: Option<&Expression>, exit: Block) -> Result<()> {
        let next = self.graph.block();
        self.frame().leave.push((exit, Some(next)));
        self.scoped(|this| this.statement(body))?;
        self.frame().leave.pop();
        self.graph.join(next);
        if let Some(step) = step {
            self.at_step(step.span);
            self.discarded(step)?;
        }
        Ok(())
    }

    /// Returns how many rounds of a loop one test of its end is for, where that can be.
    fn rounds_at_once(&mut self, unroll: &Unroll) -> Result<usize> {
        Ok(match unroll {
            Unroll::By(by) => self.constant(by)?.clamp(1, MAX_ROUNDS as i64) as usize,
            _ => UNROLLED_BY,
        })
    }

    fn do_while(&mut self, span: Span, unroll: &Unroll, body: &Statement, condition: &Expression) -> Result<()> {
        let key = self.key(span);
        let unroll = self.rounds_at_once(unroll)?;
        let exit = self.graph.block();
        let touched = touched::of_loop(Some(condition), None, body);
        let header = self.graph.enter_loop(unroll);
        let assumed = self.assume(key, &touched, header);
        self.round(body, None, exit)?;
        self.at_statement(condition.span);
        self.branch(condition, header, exit)?;
        self.close_loop(key, header, exit, &assumed);
        Ok(())
    }

    fn close_loop(&mut self, key: u64, header: Block, exit: Block, assumed: &[Assumed]) {
        let before = self.graph.data(header).before.clone();
        for &Assumed { object, variable, value } in assumed {
            if before.iter().any(|&block| self.graph.read_in(variable, block) != value) {
                self.choices.changing.insert((key, object));
                self.again = true;
            }
        }
        self.graph.seal(header);
        self.graph.leave_loop();
        self.graph.go_on(exit);
    }

    /// Takes variables for unchanged in a loop whose text does not name them as changed. What is assumed of a variable
    /// is checked at the loop's end.
    fn assume(&mut self, key: u64, touched: &Touched, header: Block) -> Vec<Assumed> {
        let Some(&before) = self.graph.data(header).before.first() else { return Vec::new() };
        let mut objects: Vec<(u64, u32)> = Vec::new();
        for frame in &self.frames {
            let scopes = frame.scopes.iter().flat_map(|scope| scope.iter());
            for (name, named) in scopes {
                if let super::Binding::Variable(lvalue) = &named.binding
                    && !touched.names.contains(name)
                    && let Op::Address(object) = self.graph.op(lvalue.address)
                    && let object = &self.graph.objects[object as usize]
                    && let Some(parts) = &object.parts
                    && (parts.len() == 1 || !touched.passed.contains(name))
                    && !self.choices.changing.contains(&(key, object.key))
                {
                    objects.extend(parts.iter().map(|&(.., variable)| (object.key, variable)));
                }
            }
        }
        objects.sort_unstable();
        objects.dedup();
        let mut assumed = Vec::new();
        for (object, variable) in objects {
            let value = self.graph.read_in(variable, before);
            self.graph.write(variable, value);
            assumed.push(Assumed { object, variable, value });
        }
        assumed
    }

    /// Counts the rounds of a loop that depends on nothing else than constants; `None` for any other.
    fn rounds(&mut self, condition: &Expression, step: Option<&Expression>, body: &Statement) -> Result<Option<usize>> {
        let mut header = Touched::default();
        [Some(condition), step].into_iter().flatten().for_each(|one| header.expression(one));
        let mut inside = Touched::default();
        inside.statement(body);
        let step = match step {
            Some(step) if !header.is_complex => step,
            _ => return Ok(None),
        };
        if names_in(condition).iter().any(|name| inside.names.contains(name)) {
            return Ok(None);
        }
        // Nothing but constants: the trial adds no code, and sets variables only.
        let saved = self.graph.save();
        let (here, warnings) = (self.here, self.warnings.len());
        let mut rounds = 0;
        let found = loop {
            let value = self.condition(condition)?;
            match self.graph.constant_of(value) {
                Some(0) => break Some(rounds),
                Some(_) if rounds < MAX_ROUNDS => {
                    rounds += 1;
                    self.step(condition.span)?;
                    self.discarded(step)?;
                }
                _ => break None,
            }
        };
        self.graph.restore(saved);
        self.warnings.truncate(warnings);
        self.set_place(here);
        Ok(found)
    }

    fn is_unrolled(&mut self, unroll: &Unroll, rounds: usize, body: &Statement) -> Result<bool> {
        let mut touched = Touched::default();
        touched.statement(body);
        Ok(match unroll {
            Unroll::Full => true,
            Unroll::By(by) => self.constant(by)? >= rounds as i64,
            Unroll::Unsaid => rounds <= 1 || rounds * touched.size <= UNROLLED_SIZE,
        })
    }

    fn unrolled(
        &mut self, key: u64, rounds: usize, condition: &Expression, step: Option<&Expression>, body: &Statement,
    ) -> Result<()> {
        let exit = self.graph.block();
        for round in 1..=rounds {
            self.round(body, step, exit)?;
            let value = self.condition(condition)?;
            if self.graph.constant_of(value) != Some(u64::from(round < rounds)) {
                self.choices.real.insert(key);
                self.again = true;
                break;
            }
        }
        self.graph.join(exit);
        Ok(())
    }

    fn switch(&mut self, on: &Expression, body: &[Statement]) -> Result<()> {
        let value = self.rvalue(on)?;
        if !value.ty.is_integer() {
            return error(on.span, format!("`switch` needs a whole number, and this is a value of `{}`", value.ty));
        }
        let value = self.promoted(&value, on.span)?;
        let exit = self.graph.block();
        let mut blocks = Vec::new();
        let mut default = exit;
        let mut labels = HashMap::new();
        for one in body {
            match &one.kind {
                StatementKind::Case(label) => {
                    let known = self.constant(label)?;
                    let label = self.rvalue(label)?;
                    let held = self.convert(&label, &value.ty, one.span)?.parts[0];
                    let fits = match value.ty.num().is_some_and(Num::is_signed) {
                        true => self.graph.signed(held) == Some(known),
                        false => known >= 0 && self.graph.constant_of(held) == Some(known as u64),
                    };
                    if !fits {
                        let text = format!("`case {known}` does not fit `{}`, the type of the `switch`", value.ty);
                        return error(one.span, text);
                    }
                    if let Some(first) = labels.insert(Some(held), one.span) {
                        return error(one.span, format!("`case {known}` is twice in the same `switch`"))
                            .note(first, "the first one is here");
                    }
                    let equal = self.compare(Compare::Eq, &value, &label, one.span)?;
                    let [block, next] = [(); 2].map(|()| self.graph.block());
                    self.graph.end(End::Branch(equal, block, next));
                    self.graph.go_on(next);
                    blocks.push(block);
                }
                StatementKind::Default => {
                    if let Some(first) = labels.insert(None, one.span) {
                        return error(one.span, "`default` is twice in the same `switch`")
                            .note(first, "the first one is here");
                    }
                    default = self.graph.block();
                    blocks.push(default);
                }
                _ => {}
            }
        }
        self.graph.jump(default);
        self.graph.begin_unreachable();
        self.frame().leave.push((exit, None));
        let mut blocks = blocks.into_iter();
        for one in body {
            if matches!(one.kind, StatementKind::Case(_) | StatementKind::Default) {
                let block = blocks.next().expect("each label has a block");
                self.graph.join(block);
            } else {
                self.statement(one)?;
            }
        }
        self.frame().leave.pop();
        self.graph.join(exit);
        Ok(())
    }

    /// `a && b`, `a || b`: `b` is computed in any case where it has no effects and reads no memory.
    pub(super) fn logical(&mut self, op: BinaryOp, a: &Expression, b: &Expression) -> Result<Value> {
        let left = self.rvalue(a)?;
        let left = self.truth(&left, a.span)?;
        let is_and = op == BinaryOp::LogicalAnd;
        if let Some(known) = self.graph.constant_of(left) {
            if (known != 0) == is_and {
                let right = self.rvalue(b)?;
                return self.truth(&right, b.span);
            }
            return Ok(self.graph.bits(Class::Pred, known));
        }
        let decided = self.graph.bits(Class::Pred, u64::from(!is_and));
        let lower = |this: &mut Self| {
            let right = this.rvalue(b)?;
            let parts = vec![this.truth(&right, b.span)?];
            Ok(Rvalue { ty: crate::types::BOOL, parts })
        };
        let other = |_: &mut Self| Ok(Rvalue { ty: crate::types::BOOL, parts: vec![decided] });
        let both =
            if is_and { self.either(b.span, left, lower, other)? } else { self.either(b.span, left, other, lower)? };
        Ok(both.parts[0])
    }

    /// Returns one of two values: by selection, if computing both has no effect.
    pub(super) fn either(
        &mut self, span: Span, condition: Value, then: impl FnOnce(&mut Self) -> Result<Rvalue>,
        otherwise: impl FnOnce(&mut Self) -> Result<Rvalue>,
    ) -> Result<Rvalue> {
        let start = self.graph.current;
        let [then_block, else_block, join] = [(); 3].map(|()| self.graph.block());
        self.graph.end(End::Branch(condition, then_block, else_block));
        let is_simple = |this: &mut Self, block: Block| {
            this.graph.current == block && this.graph.is_open() && !this.graph.changes(block, start)
        };
        self.graph.go_on(then_block);
        let a = then(self)?;
        let (a_end, a_simple) = (self.graph.current, is_simple(self, then_block));
        self.graph.go_on(else_block);
        let b = otherwise(self)?;
        let (b_end, b_simple) = (self.graph.current, is_simple(self, else_block));
        let ty = self.common_type(&a, &b, span)?;
        let b = self.convert(&b, &ty, span)?;
        self.graph.current = a_end;
        let a = self.convert(&a, &ty, span)?;
        let is_flat = a_simple && b_simple && self.graph.is_flat(then_block) && self.graph.is_flat(else_block);
        if is_flat {
            self.graph.reopen(start);
            self.graph.flatten(then_block, start);
            self.graph.flatten(else_block, start);
            self.graph.current = start;
            let pairs = a.parts.iter().zip(&b.parts);
            let parts = pairs.map(|(&a, &b)| {
                let class = self.graph.class(a);
                self.graph.make(Op::Select, class, &[condition, a, b])
            });
            return Ok(Rvalue { parts: parts.collect(), ty });
        }
        let classes: Vec<Class> = a.parts.iter().map(|&part| self.graph.class(part)).collect();
        let variables: Vec<u32> = classes.into_iter().map(|class| self.graph.variable(class)).collect();
        for (end, value) in [(a_end, &a), (b_end, &b)] {
            self.graph.current = end;
            for (&variable, &part) in variables.iter().zip(&value.parts) {
                self.graph.write(variable, part);
            }
            self.graph.jump(join);
        }
        self.graph.go_on(join);
        let parts = variables.into_iter().map(|variable| self.graph.read(variable)).collect();
        Ok(Rvalue { ty, parts })
    }
}

/// Returns the names that a statement declares around itself.
fn declared(one: &Statement) -> Vec<&Name> {
    match &one.kind {
        StatementKind::Variables(list) => list.iter().map(|variable| &variable.name).collect(),
        StatementKind::Alias(alias) => vec![&alias.name],
        _ => Vec::new(),
    }
}

fn names_in(one: &Expression) -> Vec<Rc<str>> {
    match &one.kind {
        ExpressionKind::Name { name, .. } => vec![name.text.clone()],
        ExpressionKind::Unary(_, of) | ExpressionKind::Cast(_, _, of) | ExpressionKind::Parentheses(of) => names_in(of),
        ExpressionKind::Binary(_, a, b) | ExpressionKind::Comma(a, b) => [names_in(a), names_in(b)].concat(),
        ExpressionKind::Conditional(a, b, c) => [names_in(a), names_in(b), names_in(c)].concat(),
        ExpressionKind::Member { of, .. } => names_in(of),
        _ => Vec::new(),
    }
}
