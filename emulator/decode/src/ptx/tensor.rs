//! `cp.async.bulk.tensor`: copies of boxes of tensors.

use ptx::ast::{Instruction, Operand, Type};

use super::PtxLowering;
use crate::error::Result;
use arithmetic::lanes::{Class, NONE, Src};
use program::{Addr, MemSpace, OpKind, TensorCopy, TensorWay};

impl<'a> PtxLowering<'a> {
    /// Returns a placeholder for an absent address.
    pub(super) fn zero_address(&mut self) -> Result<Addr> {
        let src = self.constants.bits32(0, self.span)?;
        Ok(Addr { src, wide: false, offset: 0 })
    }

    /// Lowers the mask of a copy to several blocks, and the operands before it.
    pub(super) fn destination_blocks(
        &mut self, instruction: &'a Instruction, operands: &'a [Operand],
    ) -> Result<(&'a [Operand], Option<Src>)> {
        match operands {
            [rest @ .., mask] if instruction.has("multicast::cluster") => {
                Ok((rest, Some(self.source(mask, Class::Bits32, Some(Type::U16))?)))
            }
            _ => Ok((operands, None)),
        }
    }

    /// `cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier];`
    ///
    /// `cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [from];`
    pub(super) fn tensor_copy(&mut self, instruction: &'a Instruction) -> Result<()> {
        let given = |dims: &u8| instruction.has(["1d", "2d", "3d", "4d", "5d"][usize::from(dims - 1)]);
        let dims = (1..=5).find(given).ok_or_else(|| self.not_supported(instruction))?;
        let operands = self.operands_without_policy(instruction);
        let (operands, blocks) = self.destination_blocks(instruction, operands)?;
        let unused = self.zero_address()?;
        let (tensor, shared, way) = match operands {
            [tensor] if instruction.has("prefetch") => (tensor, unused, TensorWay::Prefetch),
            [to, tensor, barrier] if instruction.has("mbarrier::complete_tx::bytes") => {
                let (to, _) = self.address(to, MemSpace::Shared)?;
                let (barrier, _) = self.address(barrier, MemSpace::Shared)?;
                (tensor, to, TensorWay::Load(barrier))
            }
            [tensor, from] if instruction.has("bulk_group") => {
                let (from, _) = self.address(from, MemSpace::Shared)?;
                (tensor, from, TensorWay::Store)
            }
            _ => return Err(self.not_supported(instruction)),
        };
        let Operand::Texture { handles, coordinates } = tensor else {
            return Err(self.invalid("a tensor map and coordinates in brackets are needed here"));
        };
        let (map, map_space) = match &handles[..] {
            [Operand::Name(name)] => self.address_of(Some(name), 0, MemSpace::Generic)?,
            [Operand::NameOffset { name, offset }] => self.address_of(Some(name), *offset, MemSpace::Generic)?,
            _ => return Err(self.invalid("a tensor map is named by its address")),
        };
        if coordinates.len() != usize::from(dims) {
            return Err(self.invalid(format!("{} coordinates for {dims} dimensions", coordinates.len())));
        }
        let mut at = [NONE; 5];
        for (place, operand) in at.iter_mut().zip(coordinates) {
            *place = self.source(operand, Class::Bits32, Some(Type::S32))?;
        }
        self.emit(OpKind::TensorCopy(Box::new(TensorCopy { map, map_space, dims, at, shared, blocks, way })))
    }
}
