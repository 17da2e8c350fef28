//! Scopes: meanings of the names in a function.

use ptx::Span;
use ptx::ast::{RegDecl, Type, Variable};

use crate::virtual_op::{Reg, Registers, class_and_bits};
use crate::{error::Result, hash::QuickMap};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Binding {
    Register(Reg),
    /// `.v2` or `.v4` of them.
    Vector(Box<[Reg]>),
    /// A call's parameter in a register, and its size.
    ParamRegister(Reg, u32),
    /// A call's parameter in local memory.
    ParamLocal(u32),
    /// A call's parameter in the caller's local memory: register with its address.
    ParamAt(Reg),
    /// A kernel parameter: offset in the parameter block.
    Param(u32),
    /// Offset in shared memory.
    Shared(u32),
    /// Offset in local memory.
    Local(u32),
    /// Generic address of a `.global` variable.
    Global(u64),
    /// Generic address of a `.const` variable.
    Const(u64),
}

impl Binding {
    pub(crate) fn declare(registers: &mut Registers, ty: Type, vector: u32, span: Span) -> Result<Binding> {
        if vector <= 1 {
            return registers.declare(ty, span).map(Binding::Register);
        }
        let vector = (0..vector.min(8)).map(|_| registers.declare(ty, span));
        Ok(Binding::Vector(vector.collect::<Result<_>>()?))
    }
}

/// Registers declared by number, such as `.reg .b32 %r<5>`.
#[derive(Debug, Clone, Copy)]
struct Family {
    count: u32,
    ty: Type,
    vector: u32,
}

/// Signature of a call through an address: `.callprototype`, or `.calltargets`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prototype<'a> {
    Variables(&'a [Variable], &'a [Variable]),
    Like(&'a str),
}

#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    names: QuickMap<&'a str, Binding>,
    families: QuickMap<&'a str, Family>,
    pub(crate) labels: QuickMap<&'a str, u32>,
    pub(crate) targets: QuickMap<&'a str, &'a [String]>,
    pub(crate) prototypes: QuickMap<&'a str, Prototype<'a>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn bind(&mut self, name: &'a str, binding: Binding) {
        self.names.insert(name, binding);
    }

    /// Declares registers of `.reg`, which get numbers when first mentioned.
    pub(crate) fn declare(&mut self, decl: &'a RegDecl, registers: &mut Registers) -> Result<()> {
        class_and_bits(decl.ty, decl.span)?;
        for (name, count) in &decl.names {
            match *count {
                Some(count) => {
                    let family = Family { count, ty: decl.ty, vector: decl.vector };
                    self.families.insert(name, family);
                }
                None => {
                    let binding = Binding::declare(registers, decl.ty, decl.vector, decl.span)?;
                    self.names.insert(name, binding);
                }
            }
        }
        Ok(())
    }

    /// Returns the binding of a name, and creates that of a register of a family.
    pub(crate) fn find(&mut self, name: &'a str, registers: &mut Registers) -> Option<Binding> {
        if let Some(binding) = self.names.get(name) {
            return Some(binding.clone());
        }
        let family = self.family(name)?;
        let binding = Binding::declare(registers, family.ty, family.vector, Span::default()).ok()?;
        self.names.insert(name, binding.clone());
        Some(binding)
    }

    /// Returns the family of `name`: `%r<13>` for `%r12`.
    fn family(&self, name: &str) -> Option<Family> {
        let digits = name.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
        for at in name.len() - digits..name.len() {
            let (prefix, number) = name.split_at(at);
            if number.len() > 1 && number.starts_with('0') {
                continue;
            }
            if let Some(family) = self.families.get(prefix)
                && number.parse::<u32>().is_ok_and(|n| n < family.count)
            {
                return Some(*family);
            }
        }
        None
    }
}
