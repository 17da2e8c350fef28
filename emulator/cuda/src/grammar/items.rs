//! Items: functions, structs, templates, variables at file scope.

use std::rc::Rc;

use crate::lex::Kind;
use crate::message::Message;
use crate::source::Span;
use crate::tree::{
    Alias, Assert, Function, Initializer, Item, Name, Statement, Struct, TemplateParameter, TemplateParameterKind,
    TypeKind, Unit, Variable,
};

use super::types::{Declarator, Specifiers};
use super::{Meaning, Parser, Result};

impl Parser {
    pub(super) fn unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        while !self.is_end() {
            let start = self.at;
            if self.item(false, &mut unit.items).is_err() {
                self.recover(start);
                self.declare_refused(start);
                // The body of what failed.
                while self.is("{") {
                    self.skip_one();
                }
            }
        }
        unit
    }

    /// Declares the type of a `typedef` at `start` that is refused, so that its uses are no errors.
    fn declare_refused(&mut self, start: usize) {
        let is_name = |at: &usize| {
            self.token(*at).kind == Kind::Word && (self.token(at - 1).is("*") || self.token(at + 1).is(";"))
        };
        if let Some(at) = (start + 1..self.at).find(is_name).filter(|_| self.tokens[start].is("typedef")) {
            let name = self.tokens[at].text.clone();
            self.declare(&name, Meaning::Type);
        }
    }

    fn item(&mut self, is_extern_c: bool, items: &mut Vec<Item>) -> Result<()> {
        self.links = 0;
        let span = self.span();
        self.refuse_any("namespace", "{}")?;
        match &*self.peek().text {
            _ if self.peek().kind == Kind::Pragma => drop(self.unroll()?),
            ";" => drop(self.bump()),
            "extern" if self.token(self.at + 1).kind == Kind::Str => {
                self.bump();
                if *self.peek().text != *"\"C\"" {
                    return Err(self.refuse(span, "`extern` of a language that is not \"C\""));
                }
                self.bump();
                if !self.eat("{") {
                    return self.item(true, items);
                }
                while !self.is("}") && !self.is_end() {
                    let start = self.at;
                    if self.item(true, items).is_err() {
                        self.recover(start);
                    }
                }
                self.expect("}")?;
            }
            "template" => self.template(is_extern_c, items)?,
            "static_assert" => items.push(Item::Assert(self.assert()?)),
            "using" => items.extend(self.using()?.map(Item::Alias)),
            "#" => return Err(self.error(span, "`#` starts no directive here", "unexpected")),
            "struct" if self.defines_struct() => items.push(Item::Struct(self.structure(Vec::new())?)),
            _ => {
                if !self.rust_item()? {
                    self.function_or_variables(is_extern_c, Vec::new(), items)?;
                }
            }
        }
        Ok(())
    }

    fn template(&mut self, is_extern_c: bool, items: &mut Vec<Item>) -> Result<()> {
        let span = self.bump();
        if !self.is("<") {
            return Err(self.refuse(span, "an explicit instantiation of a template"));
        }
        let first = items.len();
        self.scoped(|parser| {
            let template = parser.template_parameters()?;
            if template.is_empty() {
                return Err(parser.refuse(span, "a specialisation of a template, `template <>`"));
            }
            parser.refuse_any("template using requires class union", "a template of {}")?;
            if !parser.is("struct") {
                return parser.function_or_variables(is_extern_c, template, items);
            }
            items.push(Item::Struct(parser.structure(template)?));
            Ok(())
        })?;
        // The name is outside of the scope of the parameters.
        match items.get(first) {
            Some(Item::Function(function)) => self.declare(&function.name.text, Meaning::TemplateFunction),
            Some(Item::Struct(definition)) => self.declare(&definition.name.text, Meaning::Type),
            _ => {}
        }
        Ok(())
    }

    fn template_parameters(&mut self) -> Result<Vec<TemplateParameter>> {
        self.expect("<")?;
        let mut parameters = Vec::new();
        self.with_greater(true, |parser| {
            while !parser.is(">") {
                parser.refuse_any("template", "a template as the parameter of a template")?;
                let has_kind = parser.is_any("typename class");
                let is_type = has_kind || parser.is_word() && parser.token(parser.at + 1).is_any(", >");
                if is_type && !has_kind {
                    let name = parser.peek().text.clone();
                    let message = Message::error(parser.span(), format!("`{name}` is declared without what it is"))
                        .label("help: `typename` for a type, `int` for a number");
                    parser.report(message.help(format!("write `typename {name}`, or `int {name}`")));
                }
                let ty = if is_type { None } else { Some(parser.specifiers()?.ty) };
                parser.at += usize::from(has_kind);
                parser.refuse_any("...", "a template with a pack of parameters, {}")?;
                let span = Span { end: parser.span().start, ..parser.span() };
                let name = if parser.is_word() { parser.name()? } else { Name { span, text: "".into() } };
                parser.declare(&name.text, if is_type { Meaning::Type } else { Meaning::Value });
                let has_default = parser.eat("=");
                let kind = match ty {
                    None => TemplateParameterKind::Type {
                        default: if has_default { Some(parser.type_id()?) } else { None },
                    },
                    Some(ty) => TemplateParameterKind::Value {
                        ty,
                        default: if has_default { Some(parser.conditional()?) } else { None },
                    },
                };
                parameters.push(TemplateParameter { name, kind });
                if !parser.eat(",") {
                    break;
                }
            }
            parser.expect(">")
        })?;
        Ok(parameters)
    }

    fn function_or_variables(
        &mut self, is_extern_c: bool, template: Vec<TemplateParameter>, items: &mut Vec<Item>,
    ) -> Result<()> {
        let start = self.span();
        let specifiers = self.specifiers()?;
        self.brackets_before_name();
        let is_template = !template.is_empty();
        // Parameters are declared in a scope of their own.
        let function = self.scoped(|parser| {
            let declarator = parser.declarator(specifiers.ty.clone(), true)?;
            if declarator.parameters.is_none() {
                return Ok(Err((specifiers, declarator)));
            }
            parser.function(start, is_extern_c, specifiers, declarator, template).map(Ok)
        })?;
        match function {
            Ok(function) => {
                self.declare(&function.name.text, Meaning::Value);
                items.push(Item::Function(Rc::new(function)));
            }
            Err((specifiers, _)) if specifiers.is_kernel => return Err(self.unexpected("the parameters of the kernel")),
            Err(_) if is_template => return Err(self.refuse(start, "a template of a variable")),
            Err((specifiers, declarator)) if specifiers.is_typedef => {
                items.push(Item::Alias(self.typedef(declarator)?));
            }
            Err((specifiers, declarator)) => items.push(Item::Variables(self.variables(specifiers, declarator)?)),
        }
        Ok(())
    }

    fn function(
        &mut self, start: Span, is_extern_c: bool, specifiers: Specifiers, declarator: Declarator,
        template: Vec<TemplateParameter>,
    ) -> Result<Function> {
        let Declarator { name, ty: returns, parameters, .. } = declarator;
        let Specifiers { is_kernel, is_device, is_constexpr, launch_bounds, .. } = specifiers;
        // A function may call itself.
        self.declare(&name.text, if template.is_empty() { Meaning::Value } else { Meaning::TemplateFunction });
        let span = start.to(self.previous());
        self.eat("noexcept");
        self.refuse_any("->", "a result's type behind the parameters, {}")?;
        if is_kernel && !matches!(returns.kind, TypeKind::Void) {
            let message = Message::error(returns.span, format!("the kernel `{}` returns something", name.text));
            let help = "a kernel has no caller on the GPU: it stores its results through a pointer";
            self.report(message.label("help: write `void`").help(help));
        }
        if let (false, Some(first)) = (is_kernel, launch_bounds.first()) {
            self.error(first.span, "`__launch_bounds__` is for kernels only", "help: leave it out");
        }
        let mut body = None;
        if self.is("{") && (is_kernel || is_device || is_constexpr) {
            body = Some(self.block()?);
        } else if self.is("{") {
            // The host's: not compiled.
            self.skip_one();
        } else if self.is_any(": = try") {
            return Err(self.unexpected("the body of the function"));
        } else {
            self.expect_semicolon()?;
        }
        let parameters = parameters.unwrap_or_default();
        Ok(Function {
            span,
            name,
            is_kernel,
            is_extern_c,
            is_device,
            is_constexpr,
            template,
            launch_bounds,
            returns,
            parameters,
            body,
        })
    }

    /// Reads `{…}`, a body, with its own scope.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>> {
        self.expect("{")?;
        let statements = self.scoped(Self::statements);
        self.expect("}")?;
        Ok(statements)
    }

    /// Reads the rest of a declaration of variables, whose first declarator is read.
    pub(super) fn variables(&mut self, specifiers: Specifiers, first: Declarator) -> Result<Vec<Variable>> {
        let mut variables = Vec::new();
        let mut declarator = first;
        loop {
            let name = declarator.name;
            if name.text.is_empty() {
                return Err(self.unexpected("a name"));
            }
            self.declare(&name.text, Meaning::Value);
            let value = if self.eat("=") || self.is("{") {
                Some(self.initializer()?)
            } else if self.is("(") {
                let open = self.bump();
                let arguments = self.arguments(")")?;
                Some(Initializer::Arguments(open.to(self.previous()), arguments))
            } else {
                None
            };
            self.refuse_any("=", "a second `=` in a declaration")?;
            variables.push(Variable {
                span: name.span.to(self.previous()),
                name,
                ty: declarator.ty,
                storage: specifiers.storage,
                is_constexpr: specifiers.is_constexpr,
                align: specifiers.align.clone(),
                value,
            });
            if !self.eat(",") {
                break;
            }
            declarator = self.declarator(specifiers.ty.clone(), false)?;
        }
        self.expect_semicolon()?;
        Ok(variables)
    }

    pub(super) fn typedef(&mut self, declarator: Declarator) -> Result<Alias> {
        let Declarator { name, ty, .. } = declarator;
        if name.text.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.declare(&name.text, Meaning::Type);
        self.expect_semicolon()?;
        Ok(Alias { name, ty })
    }

    /// Reads `using Name = type;`; nothing comes of `using namespace`.
    pub(super) fn using(&mut self) -> Result<Option<Alias>> {
        let span = self.bump();
        if self.eat("namespace") {
            self.name()?;
            while self.eat("::") {
                self.name()?;
            }
            self.expect_semicolon()?;
            return Ok(None);
        }
        if self.next_is("::") {
            return Err(self.refuse(span, "`using` of a name in a namespace"));
        }
        let name = self.name()?;
        self.expect("=")?;
        let ty = self.type_id()?;
        self.declare(&name.text, Meaning::Type);
        self.expect_semicolon()?;
        Ok(Some(Alias { name, ty }))
    }

    pub(super) fn assert(&mut self) -> Result<Assert> {
        let span = self.bump();
        self.expect("(")?;
        let condition = self.assignment()?;
        let text = if self.eat(",") { Some(self.string()?.to_string()) } else { None };
        let span = span.to(self.expect(")")?);
        self.expect_semicolon()?;
        Ok(Assert { span, condition, text })
    }

    /// Returns whether `struct` at the parser's place starts a definition, and not a use as in `struct Place at;`.
    pub(super) fn defines_struct(&self) -> bool {
        let end = (self.at..self.at + 64).find(|&at| self.token(at).is_any("; { ="));
        end.is_some_and(|end| self.token(end).is("{")) || self.token(self.at + 2).is(";")
    }

    fn structure(&mut self, template: Vec<TemplateParameter>) -> Result<Rc<Struct>> {
        let span = self.bump();
        let align = if self.is_any("alignas __align__") { Some(self.alignment()?) } else { None };
        self.refuse_any("{", "a struct without a name")?;
        let name = self.name()?;
        self.declare(&name.text, Meaning::Type);
        self.refuse_any(":", "a struct with a base")?;
        self.refuse_any("<", "a specialisation of a template")?;
        self.refuse_any(";", "a struct that is only declared")?;
        self.expect("{")?;
        let (mut fields, mut constants) = (Vec::new(), Vec::new());
        self.scoped(|parser| {
            while !parser.is("}") && !parser.is_end() {
                let start = parser.at;
                parser.links = 0;
                if parser.member(&name, &mut fields, &mut constants).is_err() {
                    parser.recover(start);
                }
            }
        });
        self.expect("}")?;
        if self.is_word() && !self.peek().is_first_on_line {
            return Err(self.refuse(self.span(), "a variable declared with its struct"));
        }
        self.expect_semicolon()?;
        Ok(Rc::new(Struct { span: span.to(name.span), name, template, align, fields, constants }))
    }

    fn member(&mut self, of: &Name, fields: &mut Vec<Variable>, constants: &mut Vec<Variable>) -> Result<()> {
        let span = self.span();
        if self.is("template") {
            self.at = self.behind_arguments(self.at + 1);
            return Err(self.refuse(span, "a template inside of a struct"));
        }
        if self.is(&of.text) && self.next_is("(") || self.is("~") {
            return Err(self.refuse(span, "a constructor or destructor"));
        }
        self.refuse_any("public private protected friend", "{}")?;
        self.refuse_any("struct union class enum using typedef static_assert", "{} inside of a struct")?;
        if self.is_word() && self.next_is(":") {
            return Err(self.annotated(self.at));
        }
        let is_static = (self.at..self.at + 4).any(|at| self.token(at).is("static"));
        let specifiers = self.specifiers()?;
        self.brackets_before_name();
        let declarator = self.declarator(specifiers.ty.clone(), true)?;
        if declarator.parameters.is_some() {
            return Err(self.refuse(declarator.name.span, "a function inside of a struct"));
        }
        self.refuse_any(":", "a field of some bits")?;
        if is_static && !specifiers.is_constexpr {
            return Err(self.refuse(span, "a static variable inside of a struct"));
        }
        let variables = self.variables(specifiers, declarator)?;
        if is_static {
            constants.extend(variables)
        } else {
            fields.extend(variables)
        }
        Ok(())
    }
}
