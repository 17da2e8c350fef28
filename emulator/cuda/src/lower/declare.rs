//! Declarations: variables of a function and of the file, and their first values.

use std::rc::Rc;

use super::{Binding, Explained as _, Lowering, Lvalue, Named, Result, Rvalue, Scope, error, unsupported};
use crate::source::Span;
use crate::ssa::{Class, Object, Op, Space};
use crate::tree::{Initializer, Storage, TypeKind, Variable};
use crate::types::{Qualified, Type};

/// Constants whose values are being looked for, and names that stand for others.
const MAX_EVALUATING: usize = 64;

impl Lowering<'_> {
    pub(super) fn declare(&mut self, one: &Variable) -> Result<()> {
        if let TypeKind::Reference(to) = &one.ty.kind {
            return self.declare_reference(one, to);
        }
        match one.storage {
            Storage::Shared | Storage::SharedExtern => {
                let object = self.shared(one)?;
                return self.bind(&one.name, Binding::Variable(object));
            }
            Storage::Static if !one.is_constexpr && !one.ty.is_const => {
                return unsupported(one.span, "a `static` variable in a function of the GPU");
            }
            Storage::Constant | Storage::Device => {
                return error(one.span, "`__constant__` and `__device__` variables are declared outside of functions");
            }
            _ => {}
        }
        let is_auto = matches!(one.ty.kind, TypeKind::Auto | TypeKind::Decltype(_))
            || matches!(&one.ty.kind, TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Auto));
        if let (TypeKind::Auto | TypeKind::Pointer(_), true, Some(Initializer::Expression(value))) =
            (&one.ty.kind, is_auto, &one.value)
        {
            let value = self.rvalue(value)?;
            let ty = Qualified { ty: value.ty.clone(), is_const: one.ty.is_const, is_volatile: false };
            let object = self.local(&one.name, ty, None);
            self.initial(&object, &value);
            return self.bind(&one.name, Binding::Variable(object));
        }
        let mut ty = self.resolve(&one.ty)?;
        if one.is_constexpr {
            ty.is_const = true;
        }
        if ty.ty == Type::Void {
            return error(one.ty.span, "a variable cannot be `void`");
        }
        self.complete_array(&mut ty, one)?;
        let align = self.alignment(one)?;
        // The name is known in its own first value, as in C++.
        let object = self.local(&one.name, ty, align);
        if let Some(value) = &one.value {
            self.initialize(&object, Some(value))?;
        } else if object.ty.is_const {
            return error(one.name.span, format!("the constant `{}` has no value", one.name.text))
                .help("write ` = ` and the value");
        }
        if one.is_constexpr
            && let Ok(value) = self.read(&object, one.span)
            && let Some(_) = value.parts.iter().find(|&&part| self.graph.constant_of(part).is_none())
        {
            let text =
                format!("`{}` is `constexpr`, and its value is not known when the kernel is compiled", one.name.text);
            return error(one.span, text).help("write `const` instead of `constexpr`");
        }
        self.bind(&one.name, Binding::Variable(object))
    }

    fn declare_reference(&mut self, one: &Variable, to: &crate::tree::TypeName) -> Result<()> {
        let Some(Initializer::Expression(value)) = &one.value else {
            return error(one.span, "a reference needs a value to refer to");
        };
        let wanted = match to.kind {
            TypeKind::Auto => None,
            _ => Some(self.resolve(to)?),
        };
        let place = match self.referred(value)? {
            Some(place) if wanted.as_ref().is_none_or(|ty| ty.ty.is_same(&place.ty.ty)) => place,
            found if to.is_const => {
                let mut held = match &found {
                    Some(place) => self.read(place, value.span)?,
                    None => self.rvalue(value)?,
                };
                if let Some(ty) = &wanted {
                    held = self.convert(&held, &ty.ty, value.span)?;
                }
                self.temporary(&held, value.span)
            }
            Some(place) => {
                let wanted = wanted.map_or(String::new(), |ty| ty.to_string());
                let text = format!("a reference to `{wanted}` cannot refer to a value of `{}`", place.ty.ty);
                return error(value.span, text);
            }
            None => self.lvalue(value)?,
        };
        let mut ty = wanted.unwrap_or_else(|| place.ty.clone());
        ty.is_const |= to.is_const;
        self.bind(&one.name, Binding::Variable(Lvalue { address: place.address, ty }))
    }

    fn alignment(&mut self, one: &Variable) -> Result<Option<u64>> {
        match &one.align {
            Some(align) => Ok(Some(self.constant(align)?.clamp(1, 1024) as u64)),
            None => Ok(None),
        }
    }

    /// Takes the number of elements from the initializer where the type does not say it.
    fn complete_array(&mut self, ty: &mut Qualified, one: &Variable) -> Result<()> {
        if let (Type::Array(of, 0), Some(Initializer::List(_, list))) = (&ty.ty, &one.value) {
            ty.ty = Type::Array(of.clone(), list.len() as u64);
        }
        if let Type::Array(_, 0) = ty.ty
            && one.storage != Storage::SharedExtern
        {
            return error(one.name.span, format!("the array `{}` has no size", one.name.text))
                .help("write the number of its elements in the brackets");
        }
        Ok(())
    }

    /// Makes a variable in shared memory: one for all calls of the function.
    fn shared(&mut self, one: &Variable) -> Result<Lvalue> {
        let mut ty = self.resolve(&one.ty)?;
        self.complete_array(&mut ty, one)?;
        if let Some(Initializer::Expression(value)) = &one.value {
            let text = format!("the shared variable `{}` cannot be initialized where it is declared", one.name.text);
            return error(value.span, text).help("let one thread store the value, and wait at `__syncthreads()`");
        }
        let align = self.alignment(one)?.unwrap_or(1).max(ty.ty.align());
        let is_extern = one.storage == Storage::SharedExtern;
        let symbol = match self.frames.last() {
            Some(frame) if !is_extern => {
                let inner = frame.symbol.strip_prefix("_Z").map(str::to_owned);
                let function = inner.unwrap_or_else(|| format!("{}{}", frame.symbol.len(), frame.symbol));
                format!("_ZZ{function}E{}{}", one.name.text.len(), one.name.text)
            }
            _ => one.name.text.to_string(),
        };
        use std::hash::{Hash, Hasher};
        let mut hasher = std::hash::DefaultHasher::new();
        (if is_extern { None } else { Some(one.span) }).hash(&mut hasher);
        let key = (hasher.finish(), Rc::from(symbol.as_str()));
        if let Some(&object) = self.statics.get(&key) {
            return Ok(Lvalue { address: self.graph.make(Op::Address(object), Class::I64, &[]), ty });
        }
        let n_same = self.statics.keys().filter(|(_, name)| **name == *symbol).count();
        let name = if n_same > 0 { format!("{symbol}_{}", n_same - 1) } else { symbol };
        let object = Object {
            name,
            space: Space::Shared,
            bytes: ty.ty.bytes(),
            align,
            initial: None,
            is_constexpr: false,
            is_extern,
            parts: None,
            key: u64::from(self.frames.is_empty()),
        };
        let lvalue = self.object(object, ty);
        self.statics.insert(key, self.graph.objects.len() as u32 - 1);
        Ok(lvalue)
    }

    /// Stores the first value of a variable, also where it is constant.
    pub(super) fn initialize(&mut self, to: &Lvalue, value: Option<&Initializer>) -> Result<()> {
        match value {
            Some(Initializer::Expression(value)) => {
                if let Type::Array(..) = to.ty.ty {
                    return error(value.span, "an array takes its first values from a list in braces");
                }
                let found = self.rvalue(value)?;
                let found = self.convert(&found, &to.ty.ty, value.span)?;
                self.initial(to, &found);
                Ok(())
            }
            Some(Initializer::Arguments(span, list)) => {
                let list: Vec<Initializer> = list.iter().cloned().map(Initializer::Expression).collect();
                let is_scalar = to.ty.ty.num().is_some();
                match &list[..] {
                    [one] if is_scalar => self.initialize(to, Some(one)),
                    _ if matches!(&to.ty.ty, Type::Struct(of) if of.name == "dim3") => {
                        // A dimension that is not given is 1.
                        let one = self.graph.bits(Class::I32, 1);
                        self.initial(to, &Rvalue { ty: to.ty.ty.clone(), parts: vec![one; 3] });
                        self.fill(to, &mut list.iter().peekable(), false)
                    }
                    _ => unsupported(*span, format!("a constructor of `{}`", to.ty)),
                }
            }
            Some(Initializer::List(span, list)) => {
                let mut rest = list.iter().peekable();
                if let (Type::Struct(_), [Initializer::Expression(one)]) = (&to.ty.ty, &list[..]) {
                    let found = self.rvalue(one)?;
                    if found.ty == to.ty.ty {
                        self.initial(to, &found);
                        return Ok(());
                    }
                }
                self.fill(to, &mut rest, true)?;
                if rest.peek().is_some() {
                    return error(*span, format!("there are more values than `{}` has room for", to.ty));
                }
                Ok(())
            }
            None => self.fill(to, &mut [].iter().peekable(), true),
        }
    }

    /// Fills a variable from a list; what the list does not reach is zero.
    fn fill<'i>(
        &mut self, to: &Lvalue, rest: &mut std::iter::Peekable<std::slice::Iter<'i, Initializer>>, zeros: bool,
    ) -> Result<()> {
        self.step(Span::default())?;
        let ty = to.ty.ty.clone();
        let inner: Vec<(u64, Qualified)> = match &ty {
            Type::Array(of, n) => {
                let bytes = of.ty.bytes();
                if *n as usize > crate::types::MAX_PARTS {
                    let text = "an array as large as this with first values";
                    return unsupported(rest.peek().map_or(Span::default(), |one| span_of(one)), text);
                }
                (0..*n).map(|i| (i * bytes, (**of).clone())).collect()
            }
            Type::Struct(of) => of.fields.iter().map(|field| (field.offset, field.ty.clone())).collect(),
            scalar => {
                let num = scalar.num().unwrap_or(crate::ssa::Num::S32);
                return match rest.next() {
                    Some(Initializer::List(_, list)) if list.len() <= 1 => self.initialize(to, list.first()),
                    Some(one) => self.initialize(to, Some(one)),
                    None if zeros => {
                        let zero = self.graph.bits(num.class(), 0);
                        self.store_scalar(to.address, num, zero, to.ty.is_volatile, num.bytes() as u8);
                        Ok(())
                    }
                    None => Ok(()),
                };
            }
        };
        for (offset, ty) in inner {
            let address = self.offset(to.address, offset);
            let part = Lvalue { address, ty };
            match (&part.ty.ty, rest.peek()) {
                (_, None) if !zeros => return Ok(()),
                (Type::Array(..) | Type::Struct(_), Some(Initializer::List(..))) => {
                    self.initialize(&part, rest.next())?;
                }
                (Type::Struct(_), Some(Initializer::Expression(one))) => {
                    // One value of the type, or the first of its members.
                    let saved = self.graph.save();
                    let found = self.rvalue(one)?;
                    if found.ty == part.ty.ty {
                        rest.next();
                        self.initial(&part, &found);
                    } else {
                        self.graph.restore(saved);
                        self.fill(&part, rest, zeros)?;
                    }
                }
                _ => self.fill(&part, rest, zeros)?,
            }
        }
        Ok(())
    }

    // Variables of the file.

    pub(super) fn global(&mut self, name: &str) -> Result<Option<Binding>> {
        if let Some(found) = self.globals.get(name) {
            return Ok(Some(found.binding.clone()));
        }
        let names = self.names;
        let Some(one) = names.variables.get(name) else { return Ok(None) };
        if self.evaluating.iter().any(|other| **other == *name) {
            return error(one.name.span, format!("the value of `{name}` depends on itself"));
        }
        if self.evaluating.len() > MAX_EVALUATING {
            return unsupported(one.name.span, "a constant behind so many others");
        }
        self.evaluating.push(one.name.text.clone());
        let frames = std::mem::take(&mut self.frames);
        let binding = self.file_variable(one);
        self.frames = frames;
        self.evaluating.pop();
        let binding = binding?;
        self.globals.insert(one.name.text.clone(), Named { binding: binding.clone(), span: one.name.span });
        Ok(Some(binding))
    }

    fn file_variable(&mut self, one: &Variable) -> Result<Binding> {
        match one.storage {
            Storage::Shared | Storage::SharedExtern => return Ok(Binding::Variable(self.shared(one)?)),
            Storage::None | Storage::Static if !one.is_constexpr && !one.ty.is_const => {
                let text = format!("`{}` is a variable of the host, and kernels run on the GPU", one.name.text);
                return error(one.name.span, text)
                    .label("declared here without `__device__`")
                    .help("write `constexpr` before it if it never changes, or `__device__` if kernels share it");
            }
            _ => {}
        }
        let mut ty = match one.ty.kind {
            TypeKind::Auto => None,
            _ => Some(self.resolve(&one.ty)?),
        };
        if let Some(ty) = &mut ty {
            self.complete_array(ty, one)?;
        }
        let is_mutable = matches!(one.storage, Storage::Constant | Storage::Device);
        // Its value is made of constants, in a variable of values.
        let value = match &one.value {
            None if is_mutable => None,
            None => {
                return error(one.name.span, format!("the constant `{}` has no value", one.name.text))
                    .help("write ` = ` and the value");
            }
            Some(Initializer::Expression(value)) if ty.is_none() => Some(self.rvalue(value)?),
            Some(value) => {
                let ty = ty.clone().expect("auto needs an expression");
                let object = self.local(&one.name, Type::clone(&ty.ty).into(), None);
                self.initialize(&object, Some(value))?;
                let mut parts = Vec::new();
                for (offset, num) in ty.ty.parts().unwrap_or_default() {
                    self.steps += 1;
                    let address = self.offset(object.address, offset);
                    parts.push(self.load_scalar(address, num, false, 1));
                }
                Some(Rvalue { ty: ty.ty.clone(), parts })
            }
        };
        let ty = ty.unwrap_or_else(|| value.as_ref().map_or(Type::Void, |value| value.ty.clone()).into());
        let bits: Option<Vec<u64>> = value
            .as_ref()
            .map(|value| value.parts.iter().map(|&part| self.graph.constant_of(part)).collect::<Option<Vec<u64>>>())
            .unwrap_or(Some(Vec::new()));
        let Some(bits) = bits else {
            return error(one.span, format!("the value of `{}` is not known when the file is compiled", one.name.text));
        };
        if !is_mutable && ty.ty.num().is_some() {
            let value = value.expect("it has a value");
            return Ok(Binding::Constant(value));
        }
        let mut bytes = vec![0; if value.is_some() { ty.ty.bytes() as usize } else { 0 }];
        for ((offset, num), bits) in ty.ty.parts().unwrap_or_default().into_iter().zip(bits) {
            let (at, n) = (offset as usize, num.bytes() as usize);
            bytes[at..at + n].copy_from_slice(&bits.to_le_bytes()[..n]);
        }
        let object = Object {
            name: one.name.text.to_string(),
            space: if one.storage == Storage::Constant { Space::Const } else { Space::Global },
            bytes: ty.ty.bytes(),
            align: self.alignment(one)?.unwrap_or(1).max(ty.ty.align()),
            initial: value.is_some().then_some(bytes),
            is_constexpr: !is_mutable,
            is_extern: false,
            parts: None,
            key: 1,
        };
        let ty = Qualified { is_const: ty.is_const || !is_mutable || one.storage == Storage::Constant, ..ty };
        Ok(Binding::Variable(self.object(object, ty)))
    }

    /// Lowers with other names than those of the function: of the file, and these.
    pub(super) fn with_scope<T>(&mut self, scope: Scope, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let function = self.frames.last().map(|frame| frame.function.clone());
        let Some(function) = function.or_else(|| self.names.functions.values().flatten().next().cloned()) else {
            return unsupported(Span::default(), "a file without functions");
        };
        if self.frames.len() > super::MAX_CALL_DEPTH + MAX_EVALUATING {
            return unsupported(function.name.span, "a name behind so many others");
        }
        let exit = self.graph.block();
        self.frames.push(super::Frame::new(&function, "", vec![scope], exit));
        let result = lower(self);
        self.frames.pop();
        result
    }
}

pub(super) fn span_of(one: &Initializer) -> Span {
    match one {
        Initializer::Expression(one) => one.span,
        Initializer::List(span, _) | Initializer::Arguments(span, _) => *span,
    }
}
