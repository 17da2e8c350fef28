//! Scopes: what a name inside a function stands for.

use ptx::Span;
use ptx::ast::{RegDecl, Type, Variable};

use super::error::{Result, unsupported};
use super::hash::QuickMap;
use arithmetic::lanes::Class;

/// A virtual register, as PTX declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reg {
    pub(super) id: u32,
    pub(super) class: Class,
    /// Width as declared: 1, 8, 16, 32, 64.
    pub(super) bits: u8,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binding {
    /// A scalar register.
    Register(Reg),
    /// `.v2` or `.v4` of them.
    Vector(Box<[Reg]>),
    /// A parameter of a call, kept in a register, and its size.
    ParamRegister(Reg, u32),
    /// A parameter of a call, kept in local memory.
    ParamLocal(u32),
    /// A parameter of a call, in the caller's local memory: the register that holds its address there.
    ParamAt(Reg),
    /// A parameter of the kernel: offset in the parameter block.
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

/// Registers declared by number, such as `.reg .b32 %r<5>`.
#[derive(Debug, Clone, Copy)]
struct Family {
    count: u32,
    ty: Type,
    vector: u32,
}

/// What a call through an address says of the function: `.callprototype`, or `.calltargets`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Prototype<'a> {
    Variables(&'a [Variable], &'a [Variable]),
    Like(&'a str),
}

/// One pair of braces.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    names: QuickMap<&'a str, Binding>,
    families: QuickMap<&'a str, Family>,
    pub(super) labels: QuickMap<&'a str, u32>,
    pub(super) targets: QuickMap<&'a str, &'a [String]>,
    pub(super) prototypes: QuickMap<&'a str, Prototype<'a>>,
}

impl<'a> Scope<'a> {
    pub(super) fn bind(&mut self, name: &'a str, binding: Binding) {
        self.names.insert(name, binding);
    }

    /// `.reg`: registers get numbers when they are first mentioned.
    pub(super) fn declare(&mut self, decl: &'a RegDecl, registers: &mut Registers) -> Result<()> {
        shape(decl.ty, decl.span)?;
        for (name, count) in &decl.names {
            match *count {
                Some(count) => {
                    let family = Family {
                        count,
                        ty: decl.ty,
                        vector: decl.vector,
                    };
                    self.families.insert(name, family);
                }
                None => {
                    let binding = registers.declare(decl.ty, decl.vector, decl.span)?;
                    self.names.insert(name, binding);
                }
            }
        }
        Ok(())
    }

    pub(super) fn find(&mut self, name: &'a str, registers: &mut Registers) -> Option<Binding> {
        if let Some(binding) = self.names.get(name) {
            return Some(binding.clone());
        }
        let family = self.family(name)?;
        let binding = registers
            .declare(family.ty, family.vector, Span::default())
            .ok()?;
        self.names.insert(name, binding.clone());
        Some(binding)
    }

    /// The family that `name` is a member of: `%r12` of `%r<13>`.
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

/// Class and width of a register of a type.
pub(super) fn shape(ty: Type, span: Span) -> Result<(Class, u8)> {
    Ok(match ty.bytes() {
        0 => (Class::Pred, 1),
        1 => (Class::Bits32, 8),
        2 => (Class::Bits32, 16),
        4 => (Class::Bits32, 32),
        8 => (Class::Bits64, 64),
        _ => return Err(unsupported(span, "a 128-bit register")),
    })
}

/// All virtual registers of a kernel: their classes.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) classes: Vec<Class>,
    /// Those of fewer than 32 bits, in order, with their width.
    narrow: Vec<(u32, u8)>,
}

impl Registers {
    /// The two constant predicates.
    pub(super) fn new() -> Registers {
        Registers {
            classes: vec![Class::Pred, Class::Pred],
            narrow: Vec::new(),
        }
    }

    /// Bits of a register, as declared.
    pub(super) fn bits(&self, register: u32) -> u32 {
        match self.narrow.binary_search_by_key(&register, |(narrow, _)| *narrow) {
            Ok(at) => u32::from(self.narrow[at].1),
            Err(_) => match self.classes[register as usize] {
                Class::Pred => 1,
                Class::Bits32 => 32,
                Class::Bits64 => 64,
            },
        }
    }

    pub(super) fn fresh(&mut self, class: Class) -> u32 {
        self.classes.push(class);
        self.classes.len() as u32 - 1
    }

    pub(super) fn declare(&mut self, ty: Type, vector: u32, span: Span) -> Result<Binding> {
        let (class, bits) = shape(ty, span)?;
        let mut one = || {
            let id = self.fresh(class);
            if class == Class::Bits32 && bits < 32 {
                self.narrow.push((id, bits));
            }
            Reg { id, class, bits }
        };
        Ok(match vector {
            0 | 1 => Binding::Register(one()),
            n => Binding::Vector((0..n.min(8)).map(|_| one()).collect()),
        })
    }
}
