//! Barriers in shared memory, and groups of bulk copies.

use ptx::ast::{Immediate, Instruction, Operand, Type};

use super::{PtxLowering, address::space_of};
use crate::error::Result;
use arithmetic::{Builtin, lanes::Class};
use program::{BulkBytes, Mbarrier, MbarrierKind, MemSpace, OpKind, TOKEN_PENDING, TensorWay};

impl<'a> PtxLowering<'a> {
    /// Lowers `mbarrier.init.shared.b64 [a], n;` and the other operations on an mbarrier.
    pub(super) fn mbarrier(&mut self, instruction: &'a Instruction) -> Result<()> {
        let has = |word| instruction.has(word);
        let space = space_of(instruction).unwrap_or(MemSpace::Generic);
        let operands = &instruction.operands[..];
        let number = Some(Type::U32);
        let mut made = Mbarrier::new(MbarrierKind::Init, space, self.zero_address()?);
        let place = match (&instruction.modifiers.first().map(String::as_str), operands) {
            (Some("init"), [place, n]) => {
                made.number = Some(self.source(n, Class::Bits32, number)?);
                place
            }
            (Some("inval"), [place]) => {
                made.kind = MbarrierKind::Invalidate;
                place
            }
            (Some(kind @ ("expect_tx" | "complete_tx")), [place, n]) => {
                made.kind = match *kind {
                    "expect_tx" => MbarrierKind::Expect,
                    _ => MbarrierKind::Complete,
                };
                made.number = Some(self.source(n, Class::Bits32, number)?);
                place
            }
            (Some(kind @ ("arrive" | "arrive_drop")), [to, place, n @ ..]) if n.len() < 2 => {
                made.kind = MbarrierKind::Arrive {
                    expect: has("expect_tx"),
                    drop: *kind == "arrive_drop",
                    completes: !has("noComplete"),
                };
                made.dst = self.wanted_destination(to, Class::Bits64)?;
                if let [n] = n {
                    made.number = Some(self.source(n, Class::Bits32, number)?);
                }
                place
            }
            (Some("pending_count"), [to, token]) => return self.pending_count(to, token),
            (Some(kind @ ("test_wait" | "try_wait")), [done, place, phase, rest @ ..]) if rest.len() < 2 => {
                made.kind = MbarrierKind::Wait { tries: *kind == "try_wait" };
                made.done = Some(self.destination(done, Class::Pred)?);
                if has("parity") {
                    made.number = Some(self.source(phase, Class::Bits32, number)?)
                } else {
                    made.phase = Some(self.source(phase, Class::Bits64, None)?)
                }
                // The time limit of a wait changes no defined result.
                if let [limit] = rest {
                    self.source(limit, Class::Bits32, number)?;
                }
                place
            }
            _ => return Err(self.not_supported(instruction)),
        };
        (made.addr, made.space) = self.address(place, space)?;
        self.emit(OpKind::Mbarrier(Box::new(made)))
    }

    /// Lowers `mbarrier.pending_count.b64 n, token;`: the low bits of a token hold the pending arrivals.
    fn pending_count(&mut self, to: &'a Operand, token: &'a Operand) -> Result<()> {
        let token = self.source(token, Class::Bits64, None)?;
        let to = self.destination(to, Class::Bits32)?;
        let low = self.value(Builtin::Lo32Of64, &[token])?;
        let mask = self.constants.bits32(TOKEN_PENDING as u32, self.span)?;
        let pending = self.computed("and", &["b32"], &[low, mask])?;
        self.builtin(Builtin::Mov32, to, &[pending])
    }

    /// Lowers `cp.async.mbarrier.arrive.noinc.shared.b64 [a];`
    pub(super) fn arrive_behind_copies(&mut self, instruction: &'a Instruction) -> Result<()> {
        let [place] = &instruction.operands[..] else {
            return Err(self.invalid("`cp.async.mbarrier.arrive` takes an address"));
        };
        let (addr, space) = self.address(place, space_of(instruction).unwrap_or(MemSpace::Generic))?;
        let kind = MbarrierKind::ArriveAfterCopies { counts: !instruction.has("noinc") };
        self.emit(OpKind::Mbarrier(Box::new(Mbarrier::new(kind, space, addr))))
    }

    /// Lowers `cp.async.bulk.commit_group;` and `cp.async.bulk.wait_group n;`
    pub(super) fn bulk_group(&mut self, instruction: &'a Instruction) -> Result<()> {
        match &instruction.operands[..] {
            [] if instruction.has("commit_group") => self.emit(OpKind::BulkCommit),
            [Operand::Immediate(Immediate::Int(n))] if instruction.has("wait_group") => {
                let Ok(pending) = u32::try_from(*n) else {
                    return Err(self.invalid("a number of groups cannot be negative"));
                };
                self.emit(OpKind::BulkWait { pending })
            }
            _ => Err(self.not_supported(instruction)),
        }
    }

    /// Lowers `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], n, [barrier];`, and
    /// other bulk copies of bytes.
    pub(super) fn bulk_copy(&mut self, instruction: &'a Instruction) -> Result<()> {
        if instruction.has("prefetch") {
            return self.emit(OpKind::Nop);
        }
        let operands = self.operands_without_policy(instruction);
        let (operands, blocks) = self.destination_blocks(instruction, operands)?;
        let within_cluster = instruction.has("shared::cluster") && instruction.has("shared::cta");
        let (shared, global, bytes, way) = match operands {
            [to, from, bytes, barrier] if instruction.has("mbarrier::complete_tx::bytes") => {
                let (barrier, _) = self.address(barrier, MemSpace::Shared)?;
                (to, from, bytes, TensorWay::Load(barrier))
            }
            [to, from, bytes] if instruction.has("bulk_group") => (from, to, bytes, TensorWay::Store),
            _ => return self.bulk_group(instruction),
        };
        let (shared, _) = self.address(shared, MemSpace::Shared)?;
        let space = if within_cluster { MemSpace::Shared } else { MemSpace::Global };
        let (global, _) = self.address(global, space)?;
        let bytes = self.source(bytes, Class::Bits32, Some(Type::U32))?;
        self.emit(OpKind::BulkBytes(Box::new(BulkBytes { shared, global, within_cluster, bytes, blocks, way })))
    }
}
