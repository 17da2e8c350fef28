//! Calls: functions of the source are lowered where they are called.

use std::rc::Rc;

use super::template::Argument;
use super::{
    Binding, Explained as _, Frame, Lowering, Lvalue, MAX_CALL_DEPTH, Result, Rvalue, Scope, error, unsupported,
};
use crate::message::Message;
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Function, TemplateArgument, TypeKind};
use crate::types::{Qualified, Type};

/// An argument, evaluated once.
#[derive(Debug, Clone)]
enum Given {
    Place(Lvalue),
    Value(Rvalue),
}

impl Given {
    fn ty(&self) -> Qualified {
        match self {
            Given::Place(place) => place.ty.clone(),
            Given::Value(value) => value.ty.clone().into(),
        }
    }
}

/// A function that can be called with the arguments, and how well they fit.
struct Candidate {
    function: Rc<Function>,
    scope: Scope,
    types: Vec<(Qualified, bool)>,
    exact: usize,
    /// True if no pointer would have to become one of another type.
    converts: bool,
}

impl Lowering<'_> {
    pub(super) fn call(&mut self, one: &Expression, function: &Expression, arguments: &[Expression]) -> Result<Rvalue> {
        let ExpressionKind::Name { scope: None, name, arguments: template } = &function.kind else {
            return unsupported(function.span, "a call of what is not the name of a function");
        };
        let names = self.names;
        let Some(functions) = names.functions.get(&name.text) else {
            if let Some(Binding::Variable(_) | Binding::Constant(_)) = self.find(&name.text)? {
                return error(name.span, format!("`{}` is a variable, and only functions are called", name.text));
            }
            let mut values = Vec::new();
            for argument in arguments {
                values.push(self.rvalue(argument)?);
            }
            self.at(one.span);
            let spans: Vec<Span> = arguments.iter().map(|argument| argument.span).collect();
            return match self.intrinsic(&name.text, &values, &spans, one.span)? {
                Some(value) => Ok(value),
                None => Err(self.unknown(name)),
            };
        };
        let mut given = Vec::new();
        let is_changed = |at: usize, function: &Rc<Function>| {
            let kind = function.parameters.get(at).map(|one| &one.ty.kind);
            matches!(kind, Some(TypeKind::Reference(to)) if !to.is_const)
        };
        for (at, argument) in arguments.iter().enumerate() {
            let place = match functions.iter().any(|one| is_changed(at, one)) {
                true => self.referred(argument)?,
                false => self.try_lvalue(argument)?,
            };
            given.push(match place {
                Some(place) => Given::Place(place),
                None => Given::Value(self.rvalue(argument)?),
            });
        }
        let spans: Vec<Span> = arguments.iter().map(|argument| argument.span).collect();
        let explicit = template.as_deref().unwrap_or_default();
        let mut candidates = Vec::new();
        let mut refused = None;
        let is_host = |one: &Function| !one.is_kernel && !one.is_device && !one.is_constexpr;
        let with_body = functions.iter().filter(|function| function.body.is_some() || is_host(function));
        for function in with_body {
            match self.candidate(function, explicit, &given, one.span) {
                Ok(candidate) => candidates.push(candidate),
                Err(message) => refused = Some(message),
            }
        }
        if candidates.iter().any(|one| one.converts) {
            candidates.retain(|one| one.converts);
        }
        candidates.sort_by_key(|one| (std::cmp::Reverse(one.exact), !one.function.template.is_empty()));
        let is_tie = matches!(&candidates[..], [a, b, ..] if a.exact == b.exact && a.function.template.is_empty() == b.function.template.is_empty());
        if is_tie {
            return unsupported(one.span, format!("a call that several functions `{}` fit equally well", name.text));
        }
        match (candidates.into_iter().next(), refused) {
            (Some(chosen), _) => self.inline(chosen, given, &spans, one.span),
            (None, Some(message)) => Err(message),
            (None, None) => {
                let text = format!("a call of `{}`, whose body is not in this file,", name.text);
                unsupported(name.span, text)
            }
        }
    }

    fn candidate(
        &mut self, function: &Rc<Function>, explicit: &[TemplateArgument], given: &[Given], span: Span,
    ) -> Result<Candidate> {
        let name = &function.name.text;
        let error = |text: String| {
            Box::new(Message::error(span, text).note(function.name.span, format!("`{name}` is defined here")))
        };
        if function.is_kernel {
            return Err(error(format!("`{name}` is a kernel: only the host launches it"))
                .help("make what both do a `__device__` function")
                .into());
        }
        if !function.is_device && !function.is_constexpr {
            return Err(error(format!("`{name}` is a function of the host, and this runs on the GPU"))
                .help(format!("write `__device__` before `{name}`"))
                .into());
        }
        let least = function.parameters.iter().take_while(|one| one.default.is_none()).count();
        let most = function.parameters.len();
        if given.len() < least || given.len() > most {
            let takes = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let s = if takes == "1" { "" } else { "s" };
            return Err(error(format!("`{name}` takes {takes} argument{s}, and {} are given", given.len())));
        }
        let mut scope = Scope::new();
        if !function.template.is_empty() {
            let mut found: Vec<Option<Argument>> = vec![None; function.template.len()];
            for (at, argument) in explicit.iter().enumerate() {
                let Some(slot) = found.get_mut(at) else {
                    return Err(error(format!("the template `{name}` has {} parameters", function.template.len())));
                };
                *slot = Some(self.argument(argument)?);
            }
            for (parameter, given) in function.parameters.iter().zip(given) {
                let mut ty = given.ty();
                if !matches!(parameter.ty.kind, TypeKind::Reference(_)) {
                    (ty.is_const, ty.is_volatile) = (false, false);
                    if let Type::Array(of, _) = &ty.ty {
                        ty.ty = Type::Pointer(of.clone());
                    }
                }
                self.deduce(&parameter.ty, &ty, &function.template, explicit.len(), &mut found).map_err(error)?;
            }
            let n = found.iter().take_while(|one| one.is_some()).count();
            let found = found.into_iter().take(n).flatten().collect();
            scope = self.bind_template(&function.template, found, span)?;
        } else if !explicit.is_empty() {
            return Err(error(format!("`{name}` is not a template")));
        }
        let inner = scope.clone();
        let types = self.with_scope(inner, |this| {
            let resolve =
                |parameter| Ok((this.parameter_type(parameter)?, matches!(parameter.ty.kind, TypeKind::Reference(_))));
            function.parameters.iter().map(resolve).collect::<Result<Vec<(Qualified, bool)>>>()
        })?;
        let is_exact = |((ty, _), given): &(&(Qualified, bool), &Given)| given.ty().ty.is_same(&ty.ty);
        let converts = types.iter().zip(given).all(|((ty, _), given)| match (given.ty().ty, &ty.ty) {
            (Type::Pointer(a), Type::Pointer(b)) => a.ty == b.ty || b.ty == Type::Void,
            (Type::Array(a, _), Type::Pointer(b)) => a.ty == b.ty || b.ty == Type::Void,
            _ => true,
        });
        let exact = types.iter().zip(given).filter(is_exact).count();
        Ok(Candidate { function: function.clone(), scope, types, exact, converts })
    }

    fn inline(&mut self, chosen: Candidate, given: Vec<Given>, spans: &[Span], span: Span) -> Result<Rvalue> {
        let Candidate { function, scope, types, .. } = chosen;
        let is_inside =
            self.frames.iter().any(|frame| Rc::ptr_eq(&frame.function, &function) && !frame.symbol.is_empty());
        if is_inside && function.template.is_empty() || self.frames.len() > MAX_CALL_DEPTH {
            return unsupported(span, format!("a function that calls itself, as `{}` does,", function.name.text))
                .help("write a loop");
        }
        self.at(span);
        // Arguments by value are converted before the call; what a default needs is looked up where it is written.
        let mut bindings = Vec::new();
        for (at, ((ty, is_reference), parameter)) in types.iter().zip(&function.parameters).enumerate() {
            let argument_span = spans.get(at).copied().unwrap_or(span);
            let argument = match (given.get(at), &parameter.default) {
                (Some(given), _) => given.clone(),
                (None, Some(default)) => Given::Value(self.with_scope(scope.clone(), |this| this.rvalue(default))?),
                (None, None) => unreachable!("the number of arguments was checked"),
            };
            let place = match argument {
                Given::Place(place) if *is_reference && place.ty.ty.is_same(&ty.ty) => {
                    if place.ty.is_const && !ty.is_const {
                        let text = format!("`{}` may change its argument, which is `const` here", function.name.text);
                        return error(argument_span, text)
                            .note(parameter.ty.span, "a reference that is not to `const`");
                    }
                    Lvalue { address: place.address, ty: ty.clone() }
                }
                argument => {
                    let value = match &argument {
                        Given::Place(place) => self.read(place, argument_span)?,
                        Given::Value(value) => value.clone(),
                    };
                    if *is_reference && !ty.is_const {
                        let text = format!(
                            "`{}` changes this argument, so it must be a variable of `{}`",
                            function.name.text, ty.ty
                        );
                        return error(argument_span, text).note(parameter.ty.span, "the parameter is a reference");
                    }
                    if let Type::Array(..) = ty.ty {
                        let text = format!("expected an array `{}`, found `{}`", ty.ty, argument.ty().ty);
                        return error(argument_span, text)
                            .note(parameter.ty.span, "the parameter is a reference to an array of this size");
                    }
                    let value = self.convert(&value, &ty.ty, argument_span).map_err(|message| {
                        Box::new(message.note(parameter.ty.span, format!("the parameter of `{}`", function.name.text)))
                    })?;
                    let object = self.local(&parameter.name, Qualified { is_const: false, ..ty.clone() }, None);
                    self.initial(&object, &value);
                    Lvalue { address: object.address, ty: ty.clone() }
                }
            };
            bindings.push((parameter.name.clone(), place));
        }
        let argument_types: Vec<(Type, bool)> =
            types.iter().map(|(ty, by_reference)| (ty.ty.clone(), *by_reference)).collect();
        let symbol = self.symbol(&function, &argument_types, Some(&scope))?;
        let number = match self.symbols.iter().position(|known| *known == symbol) {
            Some(number) => number,
            None => {
                self.symbols.push(symbol.clone());
                self.symbols.len() - 1
            }
        };
        let exit = self.graph.block();
        let (here, statement, call) = (self.here, self.statement, self.call);
        self.call = Some((self.graph.place, number as u32));
        self.frames.push(Frame::new(&function, &symbol, vec![scope, Scope::new()], exit));
        self.returns(&function)?;
        for (name, place) in bindings {
            self.bind(&name, Binding::Variable(place))?;
        }
        self.body(&function)?;
        self.graph.join(exit);
        let result = self.frames.pop().and_then(|frame| frame.result);
        (self.statement, self.call) = (statement, call);
        self.set_place(here);
        match result {
            Some(result) => self.read(&result, span),
            None => Ok(Rvalue { ty: Type::Void, parts: Vec::new() }),
        }
    }
}
