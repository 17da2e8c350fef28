//! Lowers loads and stores.

use ptx::ast::{Instruction, Operand, Type};

use super::{PtxLowering, class_of};
use super::{address::space_of, operand::Elements};
use crate::{error::Result, ptx::scope::Binding};
use arithmetic::lanes::{Class, NONE};
use program::{Access, Addr, MemSpace, OpKind, Order};

/// Parsed modifiers of a load or store.
struct AccessForm {
    space: MemSpace,
    ty: Type,
    n: u8,
    order: Order,
}

impl<'a> PtxLowering<'a> {
    fn parse_form(&self, instruction: &Instruction) -> Result<AccessForm> {
        let mut form = AccessForm {
            space: space_of(instruction).unwrap_or(MemSpace::Generic),
            ty: Type::Pred,
            n: 1,
            order: Order::Weak,
        };
        for modifier in &instruction.modifiers {
            match modifier.as_str() {
                "volatile" | "relaxed" | "acquire" | "release" | "mmio" | "cv" | "wt" => {
                    form.order = Order::Strong;
                }
                "v2" => form.n = 2,
                "v4" => form.n = 4,
                "v8" => form.n = 8,
                "weak" | "cta" | "cluster" | "gpu" | "sys" | "gl" => {}
                "ca" | "cg" | "cs" | "lu" | "wb" | "nc" | "uniform" => {}
                "global" | "shared" | "shared::cta" | "shared::cluster" | "local" | "const" | "param"
                | "param::entry" | "param::func" => {}
                hint if hint.starts_with("L1::") || hint.starts_with("L2::") => {}
                name => match Type::from_name(name) {
                    Some(ty) if ty.bytes() > 0 && ty.bytes() <= 8 => form.ty = ty,
                    _ => return Err(self.not_supported(instruction)),
                },
            }
        }
        refuse_if!(form.ty == Type::Pred, self.invalid(format!("`{}` has no type", instruction.mnemonic())));
        if u32::from(form.n) * form.ty.bytes() > 32 {
            return Err(self.invalid(format!("`{}` is wider than 32 bytes", instruction.mnemonic())));
        }
        Ok(form)
    }

    /// Returns the two operands; an optional cache policy is ignored, since it changes no results.
    fn memory_operands(&self, instruction: &'a Instruction) -> Result<(&'a Operand, &'a Operand)> {
        let policy = instruction.modifiers.iter().any(|m| m.ends_with("::cache_hint"));
        match &instruction.operands[..] {
            [a, b] => Ok((a, b)),
            [a, b, _] if policy => Ok((a, b)),
            _ => Err(self.invalid(format!("`{}` takes 2 operands", instruction.mnemonic()))),
        }
    }

    pub(super) fn load(&mut self, instruction: &'a Instruction) -> Result<()> {
        let form = self.parse_form(instruction)?;
        let (to, from) = self.memory_operands(instruction)?;
        if form.space == MemSpace::Param
            && let Some((reg, bytes)) = self.param_register(from)?
        {
            return self.load_param(to, reg, bytes, form.ty);
        }
        let (addr, space) = self.address(from, form.space)?;
        let elements = self.elements_of(to, form.n)?;
        let mut regs = [NONE; 8];
        let mut class = None;
        for (at, place) in regs.iter_mut().enumerate().take(form.n.into()) {
            let reg = match &elements {
                Elements::Operands(list) => match self.wanted(&list[at])? {
                    Some(reg) => reg,
                    None => continue,
                },
                Elements::Registers(list) => list[at],
            };
            self.fits(reg.class, &mut class, form.ty)?;
            *place = reg.id as i32;
        }
        let class = class.unwrap_or(class_of(form.ty.bytes()));
        let signed = matches!(form.ty, Type::S8 | Type::S16 | Type::S32);
        let access = self.access(&form, space, addr, regs, class);
        self.emit(OpKind::Load(Box::new(Access { signed, ..access })))
    }

    pub(super) fn store(&mut self, instruction: &'a Instruction) -> Result<()> {
        let form = self.parse_form(instruction)?;
        let (to, from) = self.memory_operands(instruction)?;
        if form.space == MemSpace::Param
            && let Some((reg, bytes)) = self.param_register(to)?
        {
            return self.store_param(reg, bytes, from, form.ty);
        }
        let (addr, space) = self.address(to, form.space)?;
        refuse_if!(matches!(space, MemSpace::Const), self.invalid("a store to constant memory"));
        let elements = self.elements_of(from, form.n)?;
        // Registers first: they give the width of numbers.
        let mut class = None;
        for at in 0..usize::from(form.n) {
            match &elements {
                Elements::Operands(list) => {
                    if self.is_register(&list[at], Class::Bits64)? {
                        self.fits(Class::Bits64, &mut class, form.ty)?;
                    } else if self.is_register(&list[at], Class::Bits32)? {
                        self.fits(Class::Bits32, &mut class, form.ty)?;
                    }
                }
                Elements::Registers(list) => self.fits(list[at].class, &mut class, form.ty)?,
            }
        }
        let class = class.unwrap_or(class_of(form.ty.bytes()));
        let mut regs = [NONE; 8];
        for (at, place) in regs.iter_mut().enumerate().take(form.n.into()) {
            *place = match &elements {
                Elements::Operands(list) => self.source(&list[at], class, Some(form.ty))?,
                Elements::Registers(list) => list[at].id as i32,
            };
        }
        let access = self.access(&form, space, addr, regs, class);
        self.emit(OpKind::Store(Box::new(access)))
    }

    fn elements_of(&mut self, operand: &'a Operand, n: u8) -> Result<Elements<'a>> {
        let elements = self.elements(operand)?;
        if elements.len() != usize::from(n) {
            return Err(self.invalid(format!("{} registers for {n} elements", elements.len())));
        }
        Ok(elements)
    }

    /// Checks that a register is wide enough for its element, and that all are alike.
    fn fits(&self, class: Class, known: &mut Option<Class>, ty: Type) -> Result<()> {
        if class == Class::Pred || (class == Class::Bits32 && ty.bytes() == 8) {
            return Err(self.invalid(format!(
                "{} for an element of {} bytes",
                super::operand::describe(class),
                ty.bytes()
            )));
        }
        match known.replace(class) {
            Some(other) if other != class => Err(self.invalid("registers of different widths in one vector")),
            _ => Ok(()),
        }
    }

    /// Builds an access to registers of `class`, which does not extend the sign. Notes its width for the race checks.
    fn access(&mut self, form: &AccessForm, space: MemSpace, addr: Addr, regs: [i32; 8], class: Class) -> Access {
        let &AccessForm { ty, n, order, .. } = form;
        let element = ty.bytes() as u8;
        self.shared_subword |= element < 4 && matches!(space, MemSpace::Shared | MemSpace::Generic);
        let wide = class == Class::Bits64;
        Access { space, addr, element, n, regs, wide, signed: false, order }
    }

    /// Returns the register of a call's parameter, with its size, if it is kept in one.
    fn param_register(&mut self, operand: &'a Operand) -> Result<Option<(super::Reg, u32)>> {
        let Operand::Address { base: Some(name), offset } = operand else { return Ok(None) };
        match self.find(name)? {
            Some(Binding::ParamRegister(..)) if *offset != 0 => Err(self.invalid(format!("`{name}` is not that big"))),
            Some(Binding::ParamRegister(reg, bytes)) => Ok(Some((reg, bytes))),
            _ => Ok(None),
        }
    }
}
