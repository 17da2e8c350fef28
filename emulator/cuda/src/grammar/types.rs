//! Types: specifiers and declarators, folded into one [`TypeName`].

use std::rc::Rc;

use crate::lex::{Kind, one_of};
use crate::message::Message;
use crate::source::Span;
use crate::suggest::suggest;
use crate::tree::{Expression, Name, Parameter, Storage, TemplateArgument, TypeKind, TypeName};

use super::words::{self, foreign_type, int, integer, is_reserved};
use super::{Meaning, Parser, Result};

/// The words before a declarator.
pub(super) struct Specifiers {
    pub(super) ty: TypeName,
    pub(super) storage: Storage,
    pub(super) is_constexpr: bool,
    pub(super) is_kernel: bool,
    pub(super) is_device: bool,
    pub(super) is_typedef: bool,
    pub(super) align: Option<Expression>,
    pub(super) launch_bounds: Vec<Expression>,
}

pub(super) struct Declarator {
    /// Empty where there is none.
    pub(super) name: Name,
    pub(super) ty: TypeName,
    pub(super) is_restrict: bool,
    pub(super) parameters: Option<Vec<Parameter>>,
}

pub(super) fn plain(span: Span, kind: TypeKind) -> TypeName {
    TypeName { span, kind, is_const: false, is_volatile: false }
}

impl Parser {
    /// Returns whether the word at `at` is a type of its own: built in, or declared before.
    pub(super) fn is_type_name(&self, at: usize) -> bool {
        let word = &*self.token(at).text;
        let is_known = || {
            let is_foreign = foreign_type(word).is_some() || one_of(word, words::UNKNOWN_OF_CUDA);
            integer(word).is_some() || words::is_vector(word) || is_foreign
        };
        self.token(at).kind == Kind::Word
            && self.meaning(word).map_or_else(is_known, |meaning| meaning == Meaning::Type)
    }

    /// Returns whether a type starts at `at`, and not a value such as `Plan<64>::BM`.
    pub(super) fn is_type_at(&self, at: usize) -> bool {
        self.token(at).is_any(words::SPECIFIERS)
            || (self.is_type_name(at) && !self.token(self.behind_arguments(at + 1)).is("::"))
    }

    /// Returns the index behind `<…>` at `at`, or `at`.
    pub(super) fn behind_arguments(&self, at: usize) -> usize {
        const MAX_TOKENS: usize = 64;
        let (mut here, mut depth) = (at, 0);
        while self.token(at).is("<") && here < self.tokens.len().min(at + MAX_TOKENS) {
            match &*self.token(here).text {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                "(" | "[" => here = self.partner(here),
                ";" | "{" | "}" | ")" | "]" | "&&" | "||" | "=" => return at,
                _ => {}
            }
            here += 1;
            if depth <= 0 {
                return here;
            }
        }
        at
    }

    pub(super) fn specifiers(&mut self) -> Result<Specifiers> {
        let start = self.at;
        let (mut is_const, mut is_volatile, mut is_extern, mut is_static) = (false, false, false, false);
        // Words of integers, such as `unsigned long long`.
        let mut words: Vec<Rc<str>> = Vec::new();
        let mut base: Option<TypeKind> = None;
        let mut first_of_type = None;
        let mut result = Specifiers {
            ty: plain(self.span(), TypeKind::Void),
            storage: Storage::None,
            is_constexpr: false,
            is_kernel: false,
            is_device: false,
            is_typedef: false,
            align: None,
            launch_bounds: Vec::new(),
        };
        loop {
            let token = self.peek().clone();
            if token.is("[") && self.next_is("[") && base.is_none() {
                // An attribute, `[[maybe_unused]]`.
                self.skip_one();
                continue;
            }
            if token.kind != Kind::Word {
                break;
            }
            let has_type = base.is_some() || !words.is_empty();
            self.refuse_any("class union enum virtual friend explicit mutable thread_local __managed__", "{}")?;
            self.refuse_any("__cluster_dims__ __maxnreg__ __grid_constant__ __int128 __attribute__ __declspec", "{}")?;
            match &*token.text {
                "const" => is_const = true,
                "volatile" => is_volatile = true,
                "constexpr" => result.is_constexpr = true,
                "static" => is_static = true,
                "extern" => is_extern = true,
                "typedef" => result.is_typedef = true,
                "inline" | "__forceinline__" | "__noinline__" | "__inline__" => {}
                "register" | "typename" | "__host__" => {}
                "struct" if self.token(self.at + 1).kind == Kind::Word => {}
                "__global__" => result.is_kernel = true,
                "__device__" => result.is_device = true,
                "__shared__" => result.storage = Storage::Shared,
                "__constant__" => result.storage = Storage::Constant,
                "__launch_bounds__" => {
                    self.bump();
                    self.expect("(")?;
                    result.launch_bounds = self.arguments(")")?;
                    continue;
                }
                "__align__" | "alignas" => {
                    result.align = Some(self.alignment()?);
                    continue;
                }
                "decltype" => {
                    self.bump();
                    self.expect("(")?;
                    base = Some(TypeKind::Decltype(Box::new(self.expression()?)));
                    self.expect(")")?;
                    continue;
                }
                "signed" | "unsigned" | "short" | "long" | "int" | "char" => words.push(token.text.clone()),
                "float" => base = Some(TypeKind::Float),
                "double" => base = Some(TypeKind::Double),
                "bool" => base = Some(TypeKind::Bool),
                "void" => base = Some(TypeKind::Void),
                "auto" => base = Some(TypeKind::Auto),
                _ if has_type => break,
                word => {
                    if let Some(qualifier) = self.misspelt_qualifier() {
                        self.error(token.span, format!("cannot find `{word}`"), format!("help: write `{qualifier}`"));
                        self.tokens[self.at].text = qualifier.into();
                        continue;
                    }
                    let next = self.token(self.at + 1);
                    if self.at > start && !self.is_type_name(self.at) && next.is_any("= ; [ ( , :") {
                        base = Some(self.missing_type(start)?);
                        break;
                    }
                    first_of_type.get_or_insert(token.span);
                    base = Some(self.type_name()?);
                    continue;
                }
            }
            if base.is_some() || !words.is_empty() {
                first_of_type.get_or_insert(token.span);
            }
            self.bump();
        }
        let n = |word: &str| words.iter().filter(|one| one.as_ref() == word).count();
        let kind = match base {
            Some(TypeKind::Double) if n("long") > 0 => return Err(self.refuse(self.previous(), "`long double`")),
            Some(kind) => kind,
            None if words.len() == 1 && n("char") == 1 => TypeKind::Char,
            None if !words.is_empty() => {
                let bits = if n("char") > 0 {
                    8
                } else if n("short") > 0 {
                    16
                } else if n("long") > 0 {
                    64
                } else {
                    32
                };
                TypeKind::Int { bits, is_signed: n("unsigned") == 0, is_long_long: n("long") > 1 }
            }
            None => return Err(self.unexpected("a type")),
        };
        result.storage = match result.storage {
            Storage::Shared if is_extern => Storage::SharedExtern,
            Storage::None if result.is_device => Storage::Device,
            Storage::None if is_static => Storage::Static,
            storage => storage,
        };
        let span = first_of_type.unwrap_or(result.ty.span).to(self.previous());
        result.ty = TypeName { span, kind, is_const, is_volatile };
        Ok(result)
    }

    /// Reads `alignas(16)` or `__align__(16)`.
    pub(super) fn alignment(&mut self) -> Result<Expression> {
        let span = self.bump();
        self.expect("(")?;
        if self.is_type_at(self.at) {
            return Err(self.refuse(span, "`alignas` of a type"));
        }
        let align = self.expression()?;
        self.expect(")")?;
        Ok(align)
    }

    /// Reads the name of a type with its arguments, known or not.
    fn type_name(&mut self) -> Result<TypeKind> {
        let token = self.peek().clone();
        let word = &*token.text;
        if self.next_is("::") {
            let what = self.text(self.at, self.at + 3);
            return Err(self.refuse(token.span.to(self.token(self.at + 2).span), format!("`{what}`")));
        }
        if is_reserved(word) {
            return Err(self.unexpected("a type"));
        }
        let is_type = self.is_type_name(self.at);
        let built_in = self.meaning(word).is_none();
        if built_in {
            self.refuse_any(words::UNKNOWN_OF_CUDA, "{}")?;
        }
        self.bump();
        if !is_type {
            let mut message = Message::error(token.span, format!("cannot find type `{word}`")).label("not found");
            let declared = self.scopes.iter().flatten().filter(|(_, meaning)| **meaning == Meaning::Type);
            let others = words::SCALARS.split(' ').chain("float2 float4 int4 size_t".split(' '));
            message.help =
                suggest(word, declared.map(|(name, _)| &**name).chain(others)).map(|name| format!("there is `{name}`"));
            self.report(message);
        } else if let Some(cpp) = foreign_type(word).filter(|_| built_in) {
            self.error(token.span, format!("cannot find type `{word}`"), format!("help: C++ writes `{cpp}`"));
            return Ok(words::kind_of(&cpp));
        } else if let Some(kind) = integer(word).filter(|_| built_in) {
            return Ok(kind);
        }
        let name = Name { span: token.span, text: token.text.clone() };
        let takes_arguments = self.behind_arguments(self.at) > self.at;
        let arguments = if takes_arguments { self.template_arguments()? } else { Vec::new() };
        self.refuse_any("::", &format!("a type inside of `{word}`"))?;
        Ok(TypeKind::Named { name, arguments })
    }

    /// Reports a declaration without a type, such as `const N = 5;`, whose specifiers begin at `start`.
    fn missing_type(&mut self, start: usize) -> Result<TypeKind> {
        let name = self.peek().text.clone();
        if self.next_is(":") {
            return Err(self.annotated(start));
        }
        let is_function = self.next_is("(");
        let is_float = self.next_is("[") || self.next_is("=") && self.token(self.at + 2).text.contains('.');
        let (kind, cpp) = match (is_function, is_float) {
            (true, _) => (TypeKind::Void, "void"),
            (_, true) => (TypeKind::Float, "float"),
            _ => (int(32, true), "int"),
        };
        let what = if is_function { "what it returns" } else { "a type" };
        let help = format!("such as `{} {cpp} {name}`", self.text(start, self.at));
        let message = Message::error(self.span(), format!("`{name}` is declared without {what}"));
        self.report(message.label("help: write a type before").help(help));
        Ok(kind)
    }

    /// Reads `<…>` at the parser's place.
    pub(super) fn template_arguments(&mut self) -> Result<Vec<TemplateArgument>> {
        self.expect("<")?;
        let mut arguments = Vec::new();
        let read = |parser: &mut Self| {
            while !parser.is_any("> >>") {
                arguments.push(parser.template_argument()?);
                if !parser.eat(",") {
                    break;
                }
            }
            Ok(())
        };
        self.nested(|parser| parser.with_greater(true, read))?;
        if self.is(">>") {
            self.split_token();
        } else {
            self.expect(">")?;
        }
        Ok(arguments)
    }

    fn template_argument(&mut self) -> Result<TemplateArgument> {
        let is_name = self.is_word() && !is_reserved(&self.peek().text) && !self.is_type_name(self.at);
        if is_name && self.token(self.at + 1).is_any(", > >>") {
            let name = self.name()?;
            return Ok(TemplateArgument::Type(plain(name.span, TypeKind::Named { name, arguments: Vec::new() })));
        }
        let is_value = self.is_type_name(self.at) && self.token(self.behind_arguments(self.at + 1)).is_any("( {");
        if self.is_type_at(self.at) && !is_value {
            return Ok(TemplateArgument::Type(self.type_id()?));
        }
        Ok(TemplateArgument::Value(self.conditional()?))
    }

    /// Reads a type without a name, such as `const float*`.
    pub(super) fn type_id(&mut self) -> Result<TypeName> {
        let specifiers = self.specifiers()?;
        let declarator = self.declarator(specifiers.ty, false)?;
        if !declarator.name.text.is_empty() {
            self.at -= 1;
            return Err(self.unexpected("the end of the type"));
        }
        Ok(declarator.ty)
    }

    /// Reads a declarator of something whose specifiers give `base`; parameters only where `may_be_function`.
    pub(super) fn declarator(&mut self, base: TypeName, may_be_function: bool) -> Result<Declarator> {
        self.nested(|parser| parser.declarator_inside(base, may_be_function))
    }

    fn declarator_inside(&mut self, mut ty: TypeName, may_be_function: bool) -> Result<Declarator> {
        let mut is_restrict = false;
        loop {
            self.refuse_any("&&", "a reference to an rvalue, {}")?;
            match &*self.peek().text {
                "*" | "&" => {
                    self.link()?;
                    is_restrict = false;
                    let kind = if self.is("*") { TypeKind::Pointer } else { TypeKind::Reference };
                    ty = plain(ty.span, kind(Box::new(ty)));
                }
                "const" => ty.is_const = true,
                "volatile" => ty.is_volatile = true,
                "__restrict__" | "__restrict" | "restrict" => is_restrict = true,
                "mut" => {
                    let label = "help: leave it out: what is not `const` can change";
                    self.error(self.span(), "`mut` is of Rust", label);
                }
                _ => break,
            }
            self.bump();
        }
        let nested = (self.is("(") && self.token(self.at + 1).is_any("* & (")).then_some(self.at);
        let mut name = Name { span: Span { end: self.span().start, ..self.span() }, text: "".into() };
        self.refuse_any("operator", "an operator of one's own")?;
        self.refuse_any("...", "a pack of parameters, {}")?;
        if let Some(open) = nested {
            if self.token(self.partner(open) + 1).is("(") {
                return Err(self.refuse(self.span(), "a pointer to a function"));
            }
            self.skip_one();
        } else if self.is_word() {
            name = self.name()?;
        }
        if may_be_function && nested.is_none() && self.is("(") && self.starts_parameters() {
            let parameters = Some(self.parameters()?);
            return Ok(Declarator { name, ty, is_restrict, parameters });
        }
        ty = self.array_suffixes(ty, &name)?;
        if let Some(open) = nested {
            let end = std::mem::replace(&mut self.at, open + 1);
            let inner = self.declarator(ty, false)?;
            self.expect(")")?;
            self.at = end;
            return Ok(inner);
        }
        Ok(Declarator { name, ty, is_restrict, parameters: None })
    }

    fn array_suffixes(&mut self, element: TypeName, name: &Name) -> Result<TypeName> {
        let mut sizes = Vec::new();
        while self.is("[") {
            self.link()?;
            let open = self.at;
            self.bump();
            let size = if self.is("]") { None } else { Some(Box::new(self.with_greater(false, Self::assignment)?)) };
            if self.is(",") {
                let sizes = self.text(open, self.partner(open) + 1).replace(", ", "][").replace(',', "][");
                let message = Message::error(self.span(), "the sizes of an array stand in brackets of their own");
                return Err(self.report(message.label("not `,`").help(format!("write `{}{sizes}`", name.text))));
            }
            self.expect("]")?;
            sizes.push(size);
        }
        let array = |element: TypeName, size| TypeName {
            span: element.span,
            is_const: element.is_const,
            is_volatile: element.is_volatile,
            kind: TypeKind::Array(Box::new(element), size),
        };
        Ok(sizes.into_iter().rev().fold(element, array))
    }

    /// Returns whether the `(` at the parser's place starts parameters, and not arguments of a variable.
    fn starts_parameters(&self) -> bool {
        let (first, second) = (self.token(self.at + 1), self.token(self.at + 2));
        let is_pair = first.kind == Kind::Word && (second.kind == Kind::Word || second.is(":"));
        first.is_any(") ...") || self.is_type_at(self.at + 1) || is_pair
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.is("void") && self.next_is(")") {
            self.bump();
        }
        while !self.is(")") {
            self.refuse_any("...", "a function with any number of arguments, {}")?;
            if self.is_word() && self.next_is(":") {
                return Err(self.annotated(self.at));
            }
            let specifiers = self.specifiers()?;
            self.brackets_before_name();
            let declarator = self.declarator(specifiers.ty, false)?;
            self.declare(&declarator.name.text, Meaning::Value);
            // An array as a parameter is a pointer.
            let ty = match declarator.ty.kind {
                TypeKind::Array(element, _) => plain(declarator.ty.span, TypeKind::Pointer(element)),
                _ => declarator.ty,
            };
            let default = if self.eat("=") { Some(self.assignment()?) } else { None };
            parameters.push(Parameter { ty, name: declarator.name, is_restrict: declarator.is_restrict, default });
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.expect(")")?;
        Ok(parameters)
    }
}
