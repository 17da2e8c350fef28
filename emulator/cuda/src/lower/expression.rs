//! Expressions: types are checked and converted as C++ does.

use super::{Binding, Explained as _, Lowering, Lvalue, Result, Rvalue, error, unsupported};
use crate::message::Message;
use crate::source::Span;
use crate::ssa::{Arith, Class, Compare, Num, Op, Value};
use crate::tree::{BinaryOp, CastKind, Expression, ExpressionKind, Initializer, Name, TypeName, UnaryOp};
use crate::types::{BOOL, INT, Qualified, Type};

impl Lowering<'_> {
    /// Lowers an expression whose value is not used.
    pub(super) fn discarded(&mut self, one: &Expression) -> Result<()> {
        match &one.kind {
            ExpressionKind::Assign(..) | ExpressionKind::Step { is_prefix: true, .. } => {
                self.try_lvalue(one).map(|_| ())
            }
            ExpressionKind::Step { is_increment, of, .. } => {
                let place = self.lvalue(of)?;
                self.step_by_one(&place, *is_increment, one.span).map(|_| ())
            }
            ExpressionKind::Comma(a, b) => {
                self.discarded(a)?;
                self.discarded(b)
            }
            ExpressionKind::Parentheses(inner) => self.discarded(inner),
            // `(void)x`
            ExpressionKind::Cast(_, TypeName { kind: crate::tree::TypeKind::Void, .. }, of) => self.discarded(of),
            ExpressionKind::Name { name, scope: None, .. } => {
                if intrinsic_name(&name.text) && self.find(&name.text)?.is_none() {
                    return error(one.span, format!("`{};` names a function and does not call it", name.text))
                        .label("this does nothing")
                        .help(format!("write `{}();`", name.text));
                }
                self.rvalue(one).map(|_| ())
            }
            _ => self.rvalue(one).map(|_| ()),
        }
    }

    pub(super) fn constant(&mut self, one: &Expression) -> Result<i64> {
        let value = self.rvalue(one)?;
        if !value.ty.is_integer() {
            return error(one.span, format!("a whole number is needed here, and this is a value of `{}`", value.ty));
        }
        let part = value.parts[0];
        let is_signed = value.ty.num().is_some_and(Num::is_signed);
        let found =
            if is_signed { self.graph.signed(part) } else { self.graph.constant_of(part).map(|bits| bits as i64) };
        found.ok_or_else(|| {
            Message::error(one.span, "this must be known when the kernel is compiled")
                .label("only known when the kernel runs")
                .help("use constants, `constexpr` variables and template parameters")
                .into()
        })
    }

    pub(super) fn rvalue(&mut self, one: &Expression) -> Result<Rvalue> {
        self.step(one.span)?;
        self.at(one.span);
        let scalar = |ty: Type, value: Value| Rvalue { ty, parts: vec![value] };
        match &one.kind {
            ExpressionKind::Int { value, suffix, is_decimal } => {
                let is_unsigned = suffix.contains('u');
                let is_long = suffix.contains('l');
                let num = if !is_unsigned && !is_long && *value <= i32::MAX as u64 {
                    Num::S32
                } else if !is_long && (is_unsigned || !is_decimal) && *value <= u64::from(u32::MAX) {
                    Num::U32
                } else {
                    match (!is_unsigned && *value <= i64::MAX as u64, suffix.contains("ll")) {
                        (true, true) => Num::S64,
                        (true, false) => Num::Long,
                        (false, true) => Num::U64,
                        (false, false) => Num::ULong,
                    }
                };
                Ok(scalar(Type::Num(num), self.graph.bits(num.class(), *value)))
            }
            ExpressionKind::Float { value, is_float: true } => {
                let bits = u64::from((*value as f32).to_bits());
                Ok(scalar(Type::Num(Num::F32), self.graph.bits(Class::F32, bits)))
            }
            ExpressionKind::Float { value, .. } => {
                Ok(scalar(Type::Num(Num::F64), self.graph.bits(Class::F64, value.to_bits())))
            }
            ExpressionKind::Char(value) => {
                Ok(scalar(Type::Num(Num::Char), self.graph.int(Class::I32, i64::from(*value as i8))))
            }
            ExpressionKind::Bool(value) => Ok(scalar(BOOL, self.graph.bits(Class::Pred, u64::from(*value)))),
            ExpressionKind::Nullptr => Ok(scalar(Type::Null, self.graph.bits(Class::I64, 0))),
            ExpressionKind::Str(_) => unsupported(one.span, "a string in a kernel"),
            ExpressionKind::Parentheses(inner) => self.rvalue(inner),
            ExpressionKind::Comma(a, b) => {
                self.discarded(a)?;
                self.rvalue(b)
            }
            ExpressionKind::Unary(UnaryOp::Address, of) => self.pointer(of),
            ExpressionKind::Unary(UnaryOp::Deref, _)
            | ExpressionKind::Subscript(..)
            | ExpressionKind::Assign(..)
            | ExpressionKind::Step { is_prefix: true, .. } => {
                let place = self.lvalue(one)?;
                self.read(&place, one.span)
            }
            ExpressionKind::Step { is_increment, of, .. } => {
                let place = self.lvalue(of)?;
                self.step_by_one(&place, *is_increment, one.span)
            }
            ExpressionKind::Unary(op, of) => self.unary(*op, of, one.span),
            ExpressionKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), a, b) => {
                let value = self.logical(*op, a, b)?;
                Ok(scalar(BOOL, value))
            }
            ExpressionKind::Binary(op, a, b) => {
                // The right operand is read first, as NVRTC does, unless the order can matter.
                let mut touched = super::touched::Touched::default();
                touched.expression(a);
                touched.expression(b);
                if touched.calls > 0 || !touched.names.is_empty() {
                    let left = self.rvalue(a)?;
                    let right = self.rvalue(b)?;
                    return self.binary(*op, &left, &right, one.span);
                }
                let right = self.rvalue(b)?;
                let left = self.rvalue(a)?;
                self.at(b.span);
                self.binary(*op, &left, &right, one.span)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let Some(known) = self.graph.constant_of(condition) else {
                    return self.either(one.span, condition, |this| this.rvalue(then), |this| this.rvalue(otherwise));
                };
                let (taken, other) = if known != 0 { (then, otherwise) } else { (otherwise, then) };
                let value = self.rvalue(taken)?;
                match self.type_of_dead(other) {
                    Some(ty) if matches!((&ty, &value.ty), (Type::Num(_), Type::Num(_))) => {
                        let other = Rvalue { ty, parts: Vec::new() };
                        let ty = self.common_type(&value, &other, one.span)?;
                        self.convert(&value, &ty, one.span)
                    }
                    _ => Ok(value),
                }
            }
            ExpressionKind::Name { .. } => {
                if let Some(value) = self.special(one)? {
                    return Ok(value);
                }
                match self.name(one)? {
                    Binding::Constant(value) => Ok(value),
                    Binding::Variable(place) => self.read(&place, one.span),
                    Binding::Type(_) => error(one.span, format!("`{}` is a type", self.sources.text(one.span)))
                        .label("a value is needed here"),
                }
            }
            ExpressionKind::Member { of, is_arrow, name } => {
                if let Some(value) = self.special(one)? {
                    return Ok(value);
                }
                if let Some(place) = self.try_lvalue(one)? {
                    return self.read(&place, one.span);
                }
                debug_assert!(!is_arrow);
                let value = self.rvalue(of)?;
                self.member_of_value(&value, name)
            }
            ExpressionKind::Cast(kind, ty, of) => self.cast(*kind, ty, of, one.span),
            ExpressionKind::Construct(ty, list) => {
                let ty = self.resolve(ty)?;
                if let (Some(_), [one]) = (ty.ty.num(), &list[..])
                    && let Initializer::Expression(value) = one
                {
                    let value = self.rvalue(value)?;
                    return self.explicit(&value, &ty.ty, super::declare::span_of(one));
                }
                let name = Name { span: one.span, text: "temporary".into() };
                let object = self.local(&name, ty.ty.clone().into(), None);
                let list = match &ty.ty {
                    Type::Struct(of) if of.name == "dim3" => {
                        let values = list.iter().filter_map(|one| match one {
                            Initializer::Expression(one) => Some(one.clone()),
                            _ => None,
                        });
                        Initializer::Arguments(one.span, values.collect())
                    }
                    _ => Initializer::List(one.span, list.clone()),
                };
                self.initialize(&object, Some(&list))?;
                self.read(&object, one.span)
            }
            ExpressionKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                Ok(scalar(Type::Num(Num::ULong), self.graph.bits(Class::I64, ty.ty.bytes())))
            }
            ExpressionKind::Sizeof(of) => {
                let saved = self.graph.save();
                let ty = match self.try_lvalue(of)? {
                    Some(place) => place.ty.ty,
                    None => self.rvalue(of)?.ty,
                };
                self.graph.restore(saved);
                Ok(scalar(Type::Num(Num::ULong), self.graph.bits(Class::I64, ty.bytes())))
            }
            ExpressionKind::Alignof(ty) => {
                let ty = self.resolve(ty)?;
                Ok(scalar(Type::Num(Num::ULong), self.graph.bits(Class::I64, ty.ty.align())))
            }
            ExpressionKind::Call(function, arguments) => self.call(one, function, arguments),
        }
    }

    /// Returns the type of an arm of `?:` that is never taken: it takes part in the type of the whole. An arm that may
    /// end a recursion is not looked at deep inside of calls.
    fn type_of_dead(&mut self, one: &Expression) -> Option<Type> {
        const MAX_FRAMES: usize = 4;
        let mut touched = super::touched::Touched::default();
        touched.expression(one);
        if touched.calls > 0 && self.frames.len() > MAX_FRAMES {
            return None;
        }
        self.on_trial(|this| this.rvalue(one)).ok().map(|value| value.ty)
    }

    /// Lowers where nothing leads to, for the type.
    fn on_trial<T>(&mut self, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (current, here, warnings) = (self.graph.current, self.here, self.warnings.len());
        let (frames, statement, call) = (self.frames.len(), self.statement, self.call);
        self.graph.begin_unreachable();
        let found = lower(self);
        // An error may leave calls that are being inlined.
        self.frames.truncate(frames);
        (self.graph.current, self.statement, self.call) = (current, statement, call);
        self.warnings.truncate(warnings);
        self.set_place(here);
        found
    }

    fn name(&mut self, one: &Expression) -> Result<Binding> {
        let ExpressionKind::Name { scope, name, .. } = &one.kind else { unreachable!("a name") };
        if let Some(ty) = scope {
            return self.scoped_constant(ty, name);
        }
        match self.find(&name.text)? {
            Some(found) => Ok(found),
            None if self.names.functions.contains_key(&name.text) => {
                unsupported(name.span, format!("the function `{}` as a value", name.text))
            }
            None => Err(self.unknown(name)),
        }
    }

    /// `Plan<64>::BM`
    fn scoped_constant(&mut self, ty: &TypeName, name: &Name) -> Result<Binding> {
        let unknown = || Box::new(Message::error(name.span, format!("there is no constant `{}` here", name.text)));
        let crate::tree::TypeKind::Named { name: of, arguments } = &ty.kind else { return Err(unknown()) };
        let names = self.names;
        let Some(one) = names.structs.get(&of.text) else {
            return unsupported(ty.span, format!("`{}::`", of.text));
        };
        let (_, scope) = self.structure(one, arguments, ty.span)?;
        let Some(last) = one
            .constants
            .iter()
            .position(|constant| constant.name == *name)
            .or(one.constants.iter().position(|constant| constant.name.text == name.text))
        else {
            return Err(unknown());
        };
        // Each may use those before it.
        self.evaluating.push(one.name.text.clone());
        let found = self.with_scope(scope, |this| {
            for constant in &one.constants[..=last] {
                this.declare(&crate::tree::Variable { storage: crate::tree::Storage::None, ..constant.clone() })?;
            }
            Ok(this.find(&name.text)?.expect("it was declared"))
        });
        self.evaluating.pop();
        found
    }

    fn member_of_value(&mut self, value: &Rvalue, name: &Name) -> Result<Rvalue> {
        let (at, field) = self.field(&value.ty, name)?;
        let before: usize = match &value.ty {
            Type::Struct(of) => of.fields[..at].iter().map(|field| field.ty.ty.parts().map_or(0, |p| p.len())).sum(),
            _ => 0,
        };
        let n = field.ty.parts().map_or(0, |parts| parts.len());
        Ok(Rvalue { ty: field.ty, parts: value.parts[before..before + n].to_vec() })
    }

    /// Returns the number of a member, and its type.
    fn field(&self, ty: &Type, name: &Name) -> Result<(usize, Qualified)> {
        let Type::Struct(of) = ty else {
            let text = format!("`{ty}` has no members");
            let message = Message::error(name.span, text);
            return Err(match ty {
                Type::Pointer(to) if matches!(to.ty, Type::Struct(_)) => {
                    message.help("a pointer's members come behind `->`").into()
                }
                _ => message.into(),
            });
        };
        match of.fields.iter().position(|field| *field.name == *name.text) {
            Some(at) => Ok((at, of.fields[at].ty.clone())),
            None => {
                let known: Vec<String> = of.fields.iter().map(|field| format!("`{}`", field.name)).collect();
                let text = format!("`{}` has no member `{}`", of.name, name.text);
                error(name.span, text).label(format!("its members are {}", known.join(", ")))
            }
        }
    }

    /// Returns the place that an expression names.
    pub(super) fn lvalue(&mut self, one: &Expression) -> Result<Lvalue> {
        self.place(one, true)?.ok_or_else(|| {
            let text = format!("`{}` is a value, not a variable", self.sources.text(one.span));
            Message::error(one.span, text).label("it has no address and cannot be assigned to").into()
        })
    }

    /// Returns the place that an expression names, if it names one. That of `?:` is taken for a value.
    pub(super) fn try_lvalue(&mut self, one: &Expression) -> Result<Option<Lvalue>> {
        self.place(one, false)
    }

    /// Returns the place that a reference to an expression refers to, if it names one.
    pub(super) fn referred(&mut self, one: &Expression) -> Result<Option<Lvalue>> {
        let is_choice = matches!(without_parentheses(one).kind, ExpressionKind::Conditional(..));
        let is_place = is_choice && self.on_trial(|this| this.lvalue(one)).is_ok();
        self.place(one, is_place)
    }

    fn pointer(&mut self, to: &Expression) -> Result<Rvalue> {
        let place = self.lvalue(to)?;
        Ok(Rvalue { ty: Type::pointer(place.ty), parts: vec![place.address] })
    }

    /// The variable that `?:` chooses needs memory: it is looked for only where its place `is_needed`.
    fn place(&mut self, one: &Expression, is_needed: bool) -> Result<Option<Lvalue>> {
        self.step(one.span)?;
        self.at(one.span);
        Ok(Some(match &one.kind {
            ExpressionKind::Parentheses(inner) => return self.place(inner, is_needed),
            ExpressionKind::Name { .. } => {
                if self.special(one)?.is_some() {
                    return Ok(None);
                }
                match self.name(one)? {
                    Binding::Variable(place) => place,
                    _ => return Ok(None),
                }
            }
            ExpressionKind::Unary(UnaryOp::Deref, of) => pointee(&self.rvalue(of)?, of.span, "*")?,
            ExpressionKind::Subscript(of, index) => self.subscript(of, index)?,
            ExpressionKind::Member { of, is_arrow, name } => {
                let place = if *is_arrow {
                    pointee(&self.rvalue(of)?, of.span, "->").help("write `.`")?
                } else if self.special(one)?.is_some() {
                    return Ok(None);
                } else {
                    match self.place(of, is_needed)? {
                        Some(place) => place,
                        None => return Ok(None),
                    }
                };
                let (at, field) = self.field(&place.ty.ty, name)?;
                let Type::Struct(ty) = &place.ty.ty else { unreachable!("it has members") };
                let address = self.offset(place.address, ty.fields[at].offset);
                let (is_const, is_volatile) =
                    (field.is_const | place.ty.is_const, field.is_volatile | place.ty.is_volatile);
                Lvalue { address, ty: Qualified { ty: field.ty, is_const, is_volatile } }
            }
            ExpressionKind::Assign(op, to, value) => self.assign(*op, to, value, one.span)?,
            ExpressionKind::Step { is_increment, is_prefix: true, of } => {
                let place = self.lvalue(of)?;
                self.step_by_one(&place, *is_increment, one.span)?;
                place
            }
            ExpressionKind::Comma(a, b) => {
                self.discarded(a)?;
                return self.place(b, is_needed);
            }
            ExpressionKind::Conditional(condition, then, otherwise) if is_needed => {
                let condition = self.condition(condition)?;
                if let Some(known) = self.graph.constant_of(condition) {
                    return self.place(if known != 0 { then } else { otherwise }, true);
                }
                let found =
                    self.either(one.span, condition, |this| this.pointer(then), |this| this.pointer(otherwise))?;
                let Type::Pointer(to) = &found.ty else { unreachable!("both are pointers") };
                Lvalue { address: found.parts[0], ty: (**to).clone() }
            }
            _ => return Ok(None),
        }))
    }

    fn subscript(&mut self, of: &Expression, index: &Expression) -> Result<Lvalue> {
        if let ExpressionKind::Comma(a, b) = &index.kind {
            let text = "`a, b` in brackets is `b` alone in C++";
            let (a, b) = (self.sources.text(a.span), self.sources.text(b.span));
            return error(index.span, text).help(format!("write each index in its own brackets: `[{a}][{b}]`"));
        }
        let base = self.rvalue(of)?;
        if let Type::Pointer(to) = &base.ty {
            let place = self.rvalue(index)?;
            let address = self.moved(base.parts[0], &to.ty, &place, index.span, false)?;
            return Ok(Lvalue { address, ty: (**to).clone() });
        }
        // `index[array]`
        if base.ty.is_integer()
            && let array = self.rvalue(index)?
            && let Type::Pointer(to) = &array.ty
        {
            let address = self.moved(array.parts[0], &to.ty, &base, of.span, false)?;
            return Ok(Lvalue { address, ty: (**to).clone() });
        }
        let text = format!("`{}` is a value of `{}`, and has no elements", self.sources.text(of.span), base.ty);
        error(of.span, text).label("brackets need an array or a pointer")
    }

    /// Returns `pointer + index`, or minus.
    fn moved(&mut self, pointer: Value, of: &Type, index: &Rvalue, span: Span, backwards: bool) -> Result<Value> {
        if !index.ty.is_integer() {
            let message =
                Message::error(span, format!("an index is a whole number, and this is a value of `{}`", index.ty));
            return Err(match index.ty {
                Type::Num(_) => message.help("convert it: `(int)(…)`").into(),
                _ => message.into(),
            });
        }
        let index = self.promoted(index, span)?;
        let num = index.ty.num().expect("a number");
        let wide = self.converted(index.parts[0], num, if num.is_signed() { Num::S64 } else { Num::U64 });
        let bytes = of.bytes() as i64;
        let size = self.graph.int(Class::I64, if backwards { -bytes } else { bytes });
        let offset = self.graph.make(Op::Arith(Arith::Mul, true), Class::I64, &[wide, size]);
        Ok(self.graph.make(Op::Arith(Arith::Add, true), Class::I64, &[pointer, offset]))
    }

    // Operators.

    /// Converts integers of fewer than 32 bits, and `bool`, to `int`.
    pub(super) fn promoted(&mut self, value: &Rvalue, span: Span) -> Result<Rvalue> {
        match value.ty {
            Type::Num(num) if num.bytes() < 4 => self.convert(value, &INT, span),
            Type::Num(_) => Ok(value.clone()),
            ref other => error(span, format!("a number is needed here, and this is a value of `{other}`")),
        }
    }

    /// Returns whether a value is not 0.
    pub(super) fn truth(&mut self, value: &Rvalue, span: Span) -> Result<Value> {
        match value.ty.num() {
            Some(num) => Ok(self.converted(value.parts[0], num, Num::Bool)),
            None => error(span, format!("a value of `{}` is neither true nor false", value.ty)),
        }
    }

    fn common_num(a: Num, b: Num) -> Num {
        let order = [Num::F64, Num::F32, Num::U64, Num::S64, Num::ULong, Num::Long, Num::U32];
        if let (Num::S64, Num::ULong) | (Num::ULong, Num::S64) = (a, b) {
            return Num::U64;
        }
        order.into_iter().find(|num| *num == a || *num == b).unwrap_or(Num::S32)
    }

    /// Returns the type that two values have in common, as operands and the arms of `?:`.
    pub(super) fn common_type(&mut self, a: &Rvalue, b: &Rvalue, span: Span) -> Result<Type> {
        match (&a.ty, &b.ty) {
            (a, b) if a == b => Ok(a.clone()),
            (Type::Num(a), Type::Num(b)) => Ok(Type::Num(Self::common_num(*a, *b))),
            (Type::Pointer(_), Type::Null) => Ok(a.ty.clone()),
            (Type::Null, Type::Pointer(_)) => Ok(b.ty.clone()),
            (Type::Pointer(x), Type::Pointer(y)) if x.ty == y.ty => {
                Ok(if y.is_const { b.ty.clone() } else { a.ty.clone() })
            }
            (a, b) => error(span, format!("`{a}` and `{b}` have no type in common")),
        }
    }

    fn unary(&mut self, op: UnaryOp, of: &Expression, span: Span) -> Result<Rvalue> {
        let value = self.rvalue(of)?;
        if op == UnaryOp::Not {
            let truth = self.truth(&value, of.span)?;
            return Ok(Rvalue { ty: BOOL, parts: vec![self.graph.make(Op::Not, Class::Pred, &[truth])] });
        }
        let value = self.promoted(&value, span)?;
        let class = value.ty.num().expect("a number").class();
        let part = match op {
            UnaryOp::Plus => value.parts[0],
            UnaryOp::Minus => self.graph.make(Op::Neg, class, &[value.parts[0]]),
            _ if matches!(class, Class::F32 | Class::F64) => {
                return error(span, "`~` needs a whole number");
            }
            _ => self.graph.make(Op::Not, class, &[value.parts[0]]),
        };
        Ok(Rvalue { ty: value.ty, parts: vec![part] })
    }

    pub(super) fn compare(&mut self, compare: Compare, a: &Rvalue, b: &Rvalue, span: Span) -> Result<Value> {
        let (mut a, mut b) = (a.clone(), b.clone());
        if !a.ty.is_pointer() && !b.ty.is_pointer() {
            (a, b) = (self.promoted(&a, span)?, self.promoted(&b, span)?);
        }
        let zero =
            |graph: &crate::ssa::Graph, one: &Rvalue| one.ty.is_integer() && graph.constant_of(one.parts[0]) == Some(0);
        if a.ty.is_pointer() && zero(&self.graph, &b) {
            b = Rvalue { ty: Type::Null, parts: vec![self.graph.bits(Class::I64, 0)] };
        }
        let ty = self.common_type(&a, &b, span)?;
        let (a, b) = (self.convert(&a, &ty, span)?, self.convert(&b, &ty, span)?);
        let Some(num) = ty.num() else {
            return error(span, format!("values of `{ty}` cannot be compared"));
        };
        Ok(self.graph.make(Op::Compare(compare, num.is_signed()), Class::Pred, &[a.parts[0], b.parts[0]]))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: &Rvalue, b: &Rvalue, span: Span) -> Result<Rvalue> {
        let (sign, arith) = match op {
            BinaryOp::Compare(compare) => {
                return Ok(Rvalue { ty: BOOL, parts: vec![self.compare(compare, a, b, span)?] });
            }
            BinaryOp::Arith(arith) => (op.sign(), arith),
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr => unreachable!("`logical` lowers it"),
        };
        match (arith, &a.ty, &b.ty) {
            (Arith::Add | Arith::Sub, Type::Pointer(to), Type::Num(_)) => {
                let address = self.moved(a.parts[0], &to.ty, b, span, arith == Arith::Sub)?;
                return Ok(Rvalue { ty: a.ty.clone(), parts: vec![address] });
            }
            (Arith::Add, Type::Num(_), Type::Pointer(to)) => {
                let address = self.moved(b.parts[0], &to.ty, a, span, false)?;
                return Ok(Rvalue { ty: b.ty.clone(), parts: vec![address] });
            }
            (Arith::Sub, Type::Pointer(x), Type::Pointer(y)) if x.ty == y.ty => {
                let bytes = self.graph.make(Op::Arith(Arith::Sub, false), Class::I64, &[a.parts[0], b.parts[0]]);
                let size = self.graph.bits(Class::I64, x.ty.bytes());
                let n = self.graph.make(Op::Arith(Arith::Div, true), Class::I64, &[bytes, size]);
                return Ok(Rvalue { ty: Type::Num(Num::Long), parts: vec![n] });
            }
            _ => {}
        }
        let (a, b) = match (&a.ty, &b.ty) {
            (Type::Num(_), Type::Num(_)) => (self.promoted(a, span)?, self.promoted(b, span)?),
            (a, b) => {
                let message = Message::error(span, format!("`{sign}` does not take `{a}` and `{b}`"));
                return Err(match (a, b) {
                    (Type::Pointer(to), _) | (_, Type::Pointer(to))
                        if matches!(to.ty, Type::Pointer(_) | Type::Array(..)) =>
                    {
                        message
                            .label("this is a row, not an element")
                            .help("write another pair of brackets with the index")
                            .into()
                    }
                    (Type::Pointer(_), _) | (_, Type::Pointer(_)) => {
                        message.label("a pointer").help("write `[index]` behind it for an element").into()
                    }
                    _ => message.help("combine the members `.x`, `.y`, … one by one").into(),
                });
            }
        };
        let is_shift = matches!(arith, Arith::Shl | Arith::Shr);
        let ty = if is_shift { a.ty.clone() } else { self.common_type(&a, &b, span)? };
        let num = ty.num().expect("a number");
        let is_whole = !matches!(arith, Arith::Add | Arith::Sub | Arith::Mul | Arith::Div);
        if is_whole && (num.is_float() || b.ty == Type::Num(Num::F32) || b.ty == Type::Num(Num::F64)) {
            return error(span, format!("`{sign}` needs whole numbers, and this is `{}` and `{}`", a.ty, b.ty));
        }
        let to = if is_shift { Type::Num(Num::U32) } else { ty.clone() };
        self.widens(&a, &b, num, span);
        let (a, b) = (self.convert(&a, &ty, span)?, self.convert(&b, &to, span)?);
        if matches!(arith, Arith::Div | Arith::Rem) && !num.is_float() && self.graph.constant_of(b.parts[0]) == Some(0)
        {
            self.warn(Message::warning(span, "division by zero"));
        }
        let op = Op::Arith(arith, num.is_signed());
        let part = self.graph.make(op, num.class(), &[a.parts[0], b.parts[0]]);
        Ok(Rvalue { ty, parts: vec![part] })
    }

    /// Warns where a `double` constant makes a computation of `float` one of `double`.
    fn widens(&mut self, a: &Rvalue, b: &Rvalue, num: Num, span: Span) {
        let float = Type::Num(Num::F32);
        let constant = |one: &Rvalue| one.ty == Type::Num(Num::F64) && self.graph.constant_of(one.parts[0]).is_some();
        let computed = |one: &Rvalue| one.ty == float && self.graph.constant_of(one.parts[0]).is_none();
        if num == Num::F64 && (constant(a) && computed(b) || constant(b) && computed(a)) {
            let text = "the constant is a `double`: this is computed in double precision";
            self.warn(Message::warning(span, text).help("write an `f` behind the number, such as `0.5f`"));
        }
    }

    fn assign(&mut self, op: Option<BinaryOp>, to: &Expression, value: &Expression, span: Span) -> Result<Lvalue> {
        // C++17: the right side first.
        let mut found = self.rvalue(value)?;
        let place = self.lvalue(to)?;
        self.may_change(&place, to.span)?;
        if let Type::Array(..) = place.ty.ty {
            let text = self.sources.text(to.span);
            return error(to.span, format!("`{text}` is an array of `{}`, and arrays cannot be assigned to", place.ty))
                .label("an index is missing")
                .help(format!("write `{text}[…]` for an element of it"));
        }
        if let Some(op) = op {
            let left = self.read(&place, to.span)?;
            found = self.binary(op, &left, &found, span)?;
        }
        let found = self.convert(&found, &place.ty.ty, value.span)?;
        self.initial(&place, &found);
        Ok(place)
    }

    fn may_change(&self, place: &Lvalue, span: Span) -> Result<()> {
        if !place.ty.is_const {
            return Ok(());
        }
        let text = format!("`{}` is `const`, and this changes it", self.sources.text(span));
        error(span, text).label("cannot be assigned to").help("remove `const` where it is declared")
    }

    /// Adds or subtracts 1, and returns the value before.
    fn step_by_one(&mut self, place: &Lvalue, is_increment: bool, span: Span) -> Result<Rvalue> {
        self.may_change(place, span)?;
        let before = self.read(place, span)?;
        let one = self.int_value(1);
        let op = BinaryOp::Arith(if is_increment { Arith::Add } else { Arith::Sub });
        let after = self.binary(op, &before, &one, span)?;
        let after = self.convert(&after, &place.ty.ty, span)?;
        self.initial(place, &after);
        Ok(before)
    }

    // Conversions.

    fn cast(&mut self, kind: CastKind, to: &TypeName, of: &Expression, span: Span) -> Result<Rvalue> {
        let ty = self.resolve(to)?;
        if let crate::tree::TypeKind::Reference(_) = to.kind {
            return unsupported(span, "a cast to a reference");
        }
        let value = self.rvalue(of)?;
        match (kind, &value.ty, &ty.ty) {
            (CastKind::Static, Type::Pointer(from), Type::Pointer(to))
                if from.ty != to.ty && from.ty != Type::Void && to.ty != Type::Void =>
            {
                error(span, format!("`static_cast` does not convert `{}` to `{ty}`", value.ty))
                    .help("write `reinterpret_cast`")
            }
            _ => self.explicit(&value, &ty.ty, span),
        }
    }

    /// Converts as a cast does.
    fn explicit(&mut self, value: &Rvalue, to: &Type, span: Span) -> Result<Rvalue> {
        match (&value.ty, to) {
            (_, Type::Void) => Ok(Rvalue { ty: Type::Void, parts: Vec::new() }),
            (Type::Pointer(_) | Type::Null, Type::Pointer(_)) => {
                Ok(Rvalue { ty: to.clone(), parts: value.parts.clone() })
            }
            (Type::Pointer(_), Type::Num(num)) | (Type::Num(num), Type::Pointer(_)) if !num.is_float() => {
                let (from, into) = (value.ty.num().expect("a scalar"), to.num().expect("a scalar"));
                Ok(Rvalue { ty: to.clone(), parts: vec![self.converted(value.parts[0], from, into)] })
            }
            _ => self.convert(value, to, span),
        }
    }

    /// Converts as an assignment does.
    pub(super) fn convert(&mut self, value: &Rvalue, to: &Type, span: Span) -> Result<Rvalue> {
        let part = |part: Value| Ok(Rvalue { ty: to.clone(), parts: vec![part] });
        match (&value.ty, to) {
            (a, b) if a == b => Ok(value.clone()),
            (Type::Num(from), Type::Num(into)) => {
                let part = self.converted(value.parts[0], *from, *into);
                Ok(Rvalue { ty: to.clone(), parts: vec![part] })
            }
            (Type::Pointer(_), Type::Num(Num::Bool)) => {
                let truth = self.truth(value, span)?;
                part(truth)
            }
            (Type::Null, Type::Pointer(_)) => part(value.parts[0]),
            (Type::Num(num), Type::Pointer(_))
                if !num.is_float() && self.graph.constant_of(value.parts[0]) == Some(0) =>
            {
                part(self.graph.bits(Class::I64, 0))
            }
            (Type::Pointer(a), Type::Pointer(b)) if b.ty == Type::Void || a.ty == b.ty => {
                if a.is_const && !b.is_const {
                    return error(span, format!("`{}` points to what is `const`, and `{to}` may change it", value.ty))
                        .label(format!("expected `{to}`, found `{}`", value.ty));
                }
                part(value.parts[0])
            }
            (from, to) => {
                let text = format!("a value of `{from}` does not convert to `{to}`");
                let message = Message::error(span, text).label(format!("expected `{to}`, found `{from}`"));
                Err(match (from, to) {
                    (Type::Pointer(of), Type::Num(_)) if matches!(of.ty, Type::Num(_)) => {
                        message.help("write `[index]` behind it for an element").into()
                    }
                    (Type::Pointer(of), Type::Num(_)) if matches!(of.ty, Type::Array(..)) => {
                        message.help("this is a row: write another pair of brackets with the index").into()
                    }
                    (Type::Num(_), Type::Pointer(_)) => message.help("write `&` before it for its address").into(),
                    (Type::Pointer(_), Type::Pointer(_)) => message
                        .help(format!("to read the same bytes as another type: `reinterpret_cast<{to}>(…)`"))
                        .into(),
                    _ => message.into(),
                })
            }
        }
    }
}

fn intrinsic_name(name: &str) -> bool {
    name.starts_with("__sync") || name.starts_with("__thread")
}

/// Returns what stands in parentheses.
pub(super) fn without_parentheses(mut one: &Expression) -> &Expression {
    while let ExpressionKind::Parentheses(inner) = &one.kind {
        one = inner;
    }
    one
}

/// Returns the place that a pointer points to, for an operator that needs one.
fn pointee(pointer: &Rvalue, span: Span, operator: &str) -> Result<Lvalue> {
    match &pointer.ty {
        Type::Pointer(to) => Ok(Lvalue { address: pointer.parts[0], ty: (**to).clone() }),
        other => error(span, format!("`{operator}` needs a pointer, and this is a value of `{other}`")),
    }
}
