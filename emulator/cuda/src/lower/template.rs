//! Types by their names, and the arguments of templates.

use std::rc::Rc;

use super::{Binding, Explained as _, Lowering, Named, Result, Rvalue, Scope, error, unsupported};
use crate::message::Message;
use crate::source::Span;
use crate::ssa::Num;
use crate::tree::{
    Function, Parameter, TemplateArgument, TemplateParameter, TemplateParameterKind, TypeKind, TypeName,
};
use crate::types::{Qualified, Type};

/// A template's argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Type(Qualified),
    Value(Rvalue),
}

/// Bytes of an array that may be declared.
const MAX_ARRAY: u64 = 1 << 28;
const MAX_TEMPLATE_DEPTH: usize = 32;
/// Letters of a type's name, with its arguments.
const MAX_NAME: usize = 1000;

impl Lowering<'_> {
    /// Returns the type that a name stands for; of a reference, that of what it refers to.
    pub(super) fn resolve(&mut self, name: &TypeName) -> Result<Qualified> {
        self.step(name.span)?;
        let ty = match &name.kind {
            TypeKind::Void => Type::Void,
            TypeKind::Bool => Type::Num(Num::Bool),
            TypeKind::Char => Type::Num(Num::Char),
            TypeKind::Int { bits, is_signed, is_long_long } => Type::Num(match (bits, is_signed) {
                (8, true) => Num::S8,
                (8, false) => Num::U8,
                (16, true) => Num::S16,
                (16, false) => Num::U16,
                (32, true) => Num::S32,
                (32, false) => Num::U32,
                (_, true) if *is_long_long => Num::S64,
                (_, true) => Num::Long,
                (_, false) if *is_long_long => Num::U64,
                (_, false) => Num::ULong,
            }),
            TypeKind::Float => Type::Num(Num::F32),
            TypeKind::Double => Type::Num(Num::F64),
            TypeKind::Auto => return unsupported(name.span, "`auto` here"),
            TypeKind::Pointer(to) => Type::pointer(self.resolve(to)?),
            TypeKind::Reference(to) => return self.resolve(to),
            TypeKind::Array(of, size) => {
                let of = self.resolve(of)?;
                let n = match size {
                    None => 0,
                    Some(size) => {
                        let n = self.array_size(size)?;
                        if n <= 0 {
                            return error(size.span, format!("an array of {n} elements"))
                                .label("this must be at least 1");
                        }
                        n as u64
                    }
                };
                if of.ty.bytes().saturating_mul(n) > MAX_ARRAY {
                    return error(name.span, "an array too large for any memory of a GPU");
                }
                Type::Array(Rc::new(of), n)
            }
            TypeKind::Decltype(of) => {
                let saved = self.graph.save();
                let ty = match self.try_lvalue(of)? {
                    Some(lvalue) => lvalue.ty.ty,
                    None => self.rvalue(of)?.ty,
                };
                self.graph.restore(saved);
                ty
            }
            TypeKind::Named { name: named, arguments } => {
                let mut found = self.named(named, arguments)?;
                found.is_const |= name.is_const;
                found.is_volatile |= name.is_volatile;
                return Ok(found);
            }
        };
        Ok(Qualified { ty, is_const: name.is_const, is_volatile: name.is_volatile })
    }

    fn array_size(&mut self, size: &crate::tree::Expression) -> Result<i64> {
        let value = self.rvalue(size)?;
        match value.parts.first().and_then(|&part| self.graph.signed(part)) {
            Some(n) if value.ty.is_integer() => Ok(n),
            _ => error(size.span, "the size of an array must be known when the kernel is compiled")
                .label("only known when the kernel runs")
                .help("use a `constexpr` or a template parameter, or `extern __shared__` memory whose size the launch gives"),
        }
    }

    fn named(&mut self, name: &crate::tree::Name, arguments: &[TemplateArgument]) -> Result<Qualified> {
        let in_scopes = self.frames.last().and_then(|frame| {
            frame.scopes.iter().rev().find_map(|scope| scope.get(&name.text)).map(|named| named.binding.clone())
        });
        if let Some(Binding::Type(ty)) = in_scopes {
            return Ok(ty);
        }
        let names = self.names;
        if let Some(alias) = names.aliases.get(&name.text) {
            return self.with_scope(Scope::new(), |this| this.resolve(&alias.ty));
        }
        if let Some(one) = names.structs.get(&name.text) {
            let (ty, _) = self.structure(&one.clone(), arguments, name.span)?;
            return Ok(ty.into());
        }
        match Type::vector(&name.text) {
            Some(ty) => Ok(ty.into()),
            None => {
                let known = names.structs.keys().chain(names.aliases.keys()).map(|name| &**name);
                let near = crate::suggest::suggest(&name.text, known.chain(["float4", "float2", "int4", "size_t"]));
                let message = Message::error(name.span, format!("cannot find the type `{}`", name.text));
                Err(match near {
                    Some(near) => message.label(format!("did you mean `{near}`?")).into(),
                    None => message.label("not a type that is known here").into(),
                })
            }
        }
    }

    /// Returns a structure with its template's parameters bound, and the names of these.
    pub(super) fn structure(
        &mut self, one: &Rc<crate::tree::Struct>, arguments: &[TemplateArgument], span: Span,
    ) -> Result<(Type, Scope)> {
        if self.evaluating.len() > MAX_TEMPLATE_DEPTH || self.evaluating.contains(&one.name.text) {
            return unsupported(span, format!("`{}` inside of itself", one.name.text));
        }
        let mut given = Vec::new();
        for argument in arguments {
            given.push(self.argument(argument)?);
        }
        let scope = self.bind_template(&one.template, given, span)?;
        let mut name = one.name.text.to_string();
        if !one.template.is_empty() {
            let texts: Vec<String> =
                one.template.iter().map(|parameter| self.text_of(&scope, &parameter.name.text)).collect();
            name += &format!("<{}>", texts.join(", "));
            if name.len() > MAX_NAME {
                return unsupported(span, "a type whose arguments nest so deep");
            }
        }
        self.evaluating.push(one.name.text.clone());
        let inner = scope.clone();
        let made = self.with_scope(inner, |this| {
            let mut fields = Vec::new();
            for field in &one.fields {
                if let Some(value) = &field.value {
                    let span = super::declare::span_of(value);
                    return unsupported(span, "a member with a first value");
                }
                if let Some(first) = one.fields.iter().find(|other| other.name.text == field.name.text)
                    && first.name != field.name
                {
                    return Err(super::twice(&field.name, first.name.span));
                }
                let ty = this.resolve(&field.ty)?;
                fields.push((field.name.text.to_string(), ty));
            }
            let align = match &one.align {
                Some(align) => this.constant(align)? as u64,
                None => 1,
            };
            Ok(Type::structure(&name, fields, align))
        });
        self.evaluating.pop();
        Ok((made?, scope))
    }

    fn text_of(&self, scope: &Scope, name: &str) -> String {
        match scope.get(name).map(|named| &named.binding) {
            Some(Binding::Type(ty)) => ty.to_string(),
            Some(Binding::Constant(value)) => {
                value.parts.first().and_then(|&part| self.graph.signed(part)).unwrap_or_default().to_string()
            }
            _ => String::new(),
        }
    }

    pub(super) fn argument(&mut self, one: &TemplateArgument) -> Result<Argument> {
        let (span, value) = match one {
            TemplateArgument::Type(ty) => {
                // A plain name may be that of a value.
                if let TypeKind::Named { name, arguments } = &ty.kind
                    && arguments.is_empty()
                    && let Some(Binding::Variable(_) | Binding::Constant(_)) = self.find(&name.text)?
                {
                    let kind = crate::tree::ExpressionKind::Name { scope: None, name: name.clone(), arguments: None };
                    (ty.span, self.rvalue(&crate::tree::Expression { span: ty.span, kind })?)
                } else {
                    return Ok(Argument::Type(self.resolve(ty)?));
                }
            }
            TemplateArgument::Value(value) => (value.span, self.rvalue(value)?),
        };
        if value.parts.len() != 1 || self.graph.constant_of(value.parts[0]).is_none() {
            return error(span, "a template's argument must be known when the kernel is compiled")
                .label("only known when the kernel runs");
        }
        Ok(Argument::Value(value))
    }

    /// Binds a template's parameters in order; those that are not given have defaults.
    pub(super) fn bind_template(
        &mut self, template: &[crate::tree::TemplateParameter], given: Vec<Argument>, span: Span,
    ) -> Result<Scope> {
        let mut scope = Scope::new();
        if given.len() > template.len() {
            let text = format!("the template takes {} arguments, and {} are given", template.len(), given.len());
            return error(span, text);
        }
        let mut given = given.into_iter();
        for parameter in template {
            let bound = scope.clone();
            let argument = match (given.next(), &parameter.kind) {
                (Some(argument), _) => Some(argument),
                (None, TemplateParameterKind::Type { default: Some(ty) }) => {
                    Some(Argument::Type(self.with_scope(bound.clone(), |this| this.resolve(ty))?))
                }
                (None, TemplateParameterKind::Value { default: Some(value), .. }) => {
                    Some(Argument::Value(self.with_scope(bound.clone(), |this| this.rvalue(value))?))
                }
                _ => None,
            };
            let binding = match (argument, &parameter.kind) {
                (Some(Argument::Type(ty)), TemplateParameterKind::Type { .. }) => Binding::Type(ty),
                (Some(Argument::Value(value)), TemplateParameterKind::Value { ty, .. }) => {
                    let ty = self.with_scope(bound, |this| this.resolve(ty))?;
                    Binding::Constant(self.convert(&value, &ty.ty, span)?)
                }
                (Some(_), _) => {
                    let text = format!(
                        "the template's argument `{}` is a type where a value is, or the reverse",
                        parameter.name.text
                    );
                    return error(span, text).note(parameter.name.span, "it is declared here");
                }
                (None, _) => {
                    let text = format!("the call does not tell the template's parameter `{}`", parameter.name.text);
                    return error(span, text)
                        .help(format!("write it in `<…>` behind the name, as for `{}`", parameter.name.text))
                        .note(parameter.name.span, "it is declared here");
                }
            };
            scope.insert(parameter.name.text.clone(), Named { binding, span: parameter.name.span });
        }
        Ok(scope)
    }

    /// Deduces arguments of a template from a parameter's type, after those that are written. Returns what contradicts.
    pub(super) fn deduce(
        &mut self, name: &TypeName, ty: &Qualified, template: &[TemplateParameter], n_written: usize,
        found: &mut [Option<Argument>],
    ) -> Result<(), String> {
        let mut settle = |name: &str, argument: Argument| {
            let Some(at) = template.iter().position(|one| *one.name.text == *name) else { return Ok(()) };
            match found[at].replace(argument.clone()) {
                Some(written) if at < n_written => found[at] = Some(written),
                Some(first) if first != argument => {
                    return Err(match (first, argument) {
                        (Argument::Type(a), Argument::Type(b)) => {
                            format!(
                                "the template's `{name}` is `{a}` by one argument of the call, and `{b}` by another"
                            )
                        }
                        _ => format!("the template's `{name}` is not the same number by all arguments of the call"),
                    });
                }
                _ => {}
            }
            Ok(())
        };
        match (&name.kind, &ty.ty) {
            (TypeKind::Named { name: named, arguments }, _) if arguments.is_empty() => {
                let is_const = ty.is_const && !name.is_const;
                let is_volatile = ty.is_volatile && !name.is_volatile;
                settle(&named.text, Argument::Type(Qualified { ty: ty.ty.clone(), is_const, is_volatile }))
            }
            (TypeKind::Pointer(to), Type::Pointer(of) | Type::Array(of, _))
            | (TypeKind::Array(to, _), Type::Pointer(of)) => self.deduce(to, of, template, n_written, found),
            (TypeKind::Reference(to), _) => self.deduce(to, ty, template, n_written, found),
            (TypeKind::Array(to, size), Type::Array(of, n)) => {
                if let Some(size) = size
                    && let crate::tree::ExpressionKind::Name { name, .. } = &size.kind
                {
                    settle(&name.text, Argument::Value(self.int_value(*n as i64)))?;
                }
                self.deduce(to, of, template, n_written, found)
            }
            _ => Ok(()),
        }
    }

    /// Returns the type of a parameter: an array stands for a pointer.
    pub(super) fn parameter_type(&mut self, parameter: &Parameter) -> Result<Qualified> {
        let mut ty = self.resolve(&parameter.ty)?;
        let is_reference = matches!(parameter.ty.kind, TypeKind::Reference(_));
        if let (Type::Array(of, _), false) = (&ty.ty, is_reference) {
            ty.ty = Type::Pointer(of.clone());
        }
        Ok(ty)
    }

    /// Returns the symbol of a function: its name, or the mangled one.
    pub(super) fn symbol(
        &mut self, function: &Function, arguments: &[(Type, bool)], template: Option<&Scope>,
    ) -> Result<String> {
        if function.is_extern_c {
            return Ok(function.name.text.to_string());
        }
        let mut out = format!("_Z{}{}", function.name.text.len(), function.name.text);
        let mut seen = Vec::new();
        if let Some(scope) = template.filter(|_| !function.template.is_empty()) {
            seen.push(function.name.text.to_string());
            out.push('I');
            for parameter in &function.template {
                match scope.get(&parameter.name.text).map(|named| &named.binding) {
                    Some(Binding::Type(ty)) => ty.mangle(&mut out, &mut seen),
                    Some(Binding::Constant(value)) => {
                        out.push('L');
                        value.ty.mangle(&mut out, &mut seen);
                        let n = value.parts.first().and_then(|&part| self.graph.signed(part)).unwrap_or_default();
                        out += &if n < 0 { format!("n{}", n.unsigned_abs()) } else { n.to_string() };
                        out.push('E');
                    }
                    _ => {}
                }
            }
            out.push_str("Ev");
        }
        if function.parameters.is_empty() {
            out.push('v');
        }
        for (index, parameter) in function.parameters.iter().enumerate() {
            match arguments.get(index) {
                Some((ty, is_reference)) => {
                    if *is_reference {
                        out.push('R');
                    }
                    ty.mangle(&mut out, &mut seen);
                }
                None => {
                    let ty = self.parameter_type(parameter)?;
                    // A parameter's own `const` is not part of the function's type.
                    ty.ty.mangle(&mut out, &mut seen);
                }
            }
        }
        Ok(out)
    }
}
