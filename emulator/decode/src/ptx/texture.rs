//! Texture fetches through texture objects.

use ptx::ast::{Instruction, Operand, Type};

use super::{PtxLowering, operand::Elements};
use crate::error::Result;
use arithmetic::lanes::{Class, NONE};
use program::{OpKind, Texture};

impl<'a> PtxLowering<'a> {
    /// Lowers `tex.2d.v4.f32.f32 {r, g, b, a}, [object, {x, y}];`
    pub(super) fn texture(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let (dims, ty, float_coordinates) = match modifiers[..] {
            [geometry @ ("1d" | "2d"), "v4", ty @ ("f32" | "s32" | "u32"), coordinates @ ("f32" | "s32")] => {
                (if geometry == "1d" { 1 } else { 2 }, Type::from_name(ty).unwrap_or(Type::F32), coordinates == "f32")
            }
            _ => return Err(self.not_supported(instruction)),
        };
        self.count(instruction, 2)?;
        let Operand::Texture { handles, coordinates: given } = &instruction.operands[1] else {
            return Err(self.invalid("`tex` needs a texture and coordinates in brackets"));
        };
        let [handle] = &handles[..] else { return Err(self.unsupported("a texture fetch with a sampler of its own")) };
        if !self.is_register(handle, Class::Bits64)? {
            return Err(self.unsupported("a texture reference (use a texture object)"));
        }
        let handle = self.source(handle, Class::Bits64, None)?;
        // The coordinate vector may be longer than needed.
        if given.len() < usize::from(dims) {
            return Err(self.invalid(format!("{} coordinates for {dims} dimensions", given.len())));
        }
        let mut coordinates = [NONE; 2];
        let kind = if float_coordinates { Type::F32 } else { Type::S32 };
        for (place, operand) in coordinates.iter_mut().zip(given).take(dims.into()) {
            *place = self.source(operand, Class::Bits32, Some(kind))?;
        }
        let elements = self.elements(&instruction.operands[0])?;
        refuse_if!(elements.len() != 4, self.invalid(format!("{} registers for 4 components", elements.len())));
        let mut dst = [None; 4];
        for (at, place) in dst.iter_mut().enumerate() {
            *place = match &elements {
                Elements::Operands(list) => self.wanted_destination(&list[at], Class::Bits32)?,
                Elements::Registers(list) if list[at].class == Class::Bits32 => Some(list[at].id),
                Elements::Registers(_) => return Err(self.invalid("a component is 32 bits wide")),
            };
        }
        self.emit(OpKind::Texture(Box::new(Texture { handle, dims, float_coordinates, coordinates, dst, ty })))
    }
}
