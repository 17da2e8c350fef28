//! Operations of several lanes and warps: barriers, fences, shuffles, votes.

use ptx::ast::{Instruction, Operand, Type};

use super::{PtxLowering, special_registers};
use crate::error::Result;
use arithmetic::lanes::{Class, NONE, Src};
use arithmetic::{Builtin, ResultPart, lookup};
use program::{BARRIERS, BarrierKind, BarrierResult, OpKind, ReduxKind, ShuffleMode, VoteMode};

impl<'a> PtxLowering<'a> {
    pub(super) fn warp(&mut self, instruction: &'a Instruction) -> Result<()> {
        match instruction.opcode.as_str() {
            "bar" | "barrier" => self.barrier(instruction),
            "fence" if instruction.has("proxy") || instruction.modifiers.iter().any(|m| m.starts_with("proxy")) => {
                self.emit(OpKind::ProxyFence)
            }
            "fence" if instruction.has("mbarrier_init") => self.emit(OpKind::InitFence),
            "membar" | "fence" => self.emit(OpKind::Fence),
            "nanosleep" => {
                self.count(instruction, 1)?;
                self.source(&instruction.operands[0], Class::Bits32, Some(Type::U32))?;
                self.emit(OpKind::Yield)
            }
            "shfl" => self.shuffle(instruction),
            "vote" => self.vote(instruction),
            "match" => self.match_lanes(instruction),
            "redux" => self.redux(instruction),
            "elect" => self.elect(instruction),
            _ => {
                self.count(instruction, 1)?;
                let dst = self.destination(&instruction.operands[0], Class::Bits32)?;
                self.emit(OpKind::ActiveMask { dst })
            }
        }
    }

    fn barrier(&mut self, instruction: &'a Instruction) -> Result<()> {
        if instruction.has("warp") {
            self.count(instruction, 1)?;
            let members = self.members(&instruction.operands[0])?;
            return self.emit(OpKind::WarpSync { members });
        }
        if instruction.has("cluster") {
            let waits = instruction.has("wait");
            return self.emit(OpKind::ClusterBarrier { waits });
        }
        let operands = &instruction.operands[..];
        let number = |lower: &mut Self, operand| lower.source(operand, Class::Bits32, Some(Type::U32));
        if instruction.has("red") {
            // d, a{, b}, {!}c
            let (to, id, count, pred) = match operands {
                [to, id, pred] => (to, id, None, pred),
                [to, id, count, pred] => (to, id, Some(count), pred),
                _ => return Err(self.invalid(format!("`{}` takes 3 or 4 operands", instruction.mnemonic()))),
            };
            let id = number(self, id)?;
            let count = count.map(|count| number(self, count)).transpose()?;
            self.barrier_operands(id, count)?;
            let (pred, negated) = self.predicate_operand(pred)?;
            let result = if instruction.has("popc") {
                BarrierResult::Popc(self.destination(to, Class::Bits32)?)
            } else if instruction.has("and") {
                BarrierResult::And(self.destination(to, Class::Pred)?)
            } else if instruction.has("or") {
                BarrierResult::Or(self.destination(to, Class::Pred)?)
            } else {
                return Err(self.not_supported(instruction));
            };
            let kind = BarrierKind::Reduce { pred, negated, result };
            return self.emit(OpKind::Barrier { kind, id, count });
        }
        let kind = if instruction.has("arrive") { BarrierKind::Arrive } else { BarrierKind::Sync };
        let (id, count) = match operands {
            [id] => (id, None),
            [id, count] => (id, Some(count)),
            _ => return Err(self.invalid(format!("`{}` takes 1 or 2 operands", instruction.mnemonic()))),
        };
        if kind == BarrierKind::Arrive && count.is_none() {
            return Err(self.invalid("`bar.arrive` needs the number of threads"));
        }
        let id = number(self, id)?;
        let count = count.map(|count| number(self, count)).transpose()?;
        if kind == BarrierKind::Arrive && count.and_then(|count| self.number(count)) == Some(0) {
            return Err(self.invalid("`bar.arrive` needs the number of threads, and 0 stands for none"));
        }
        self.barrier_operands(id, count)?;
        self.emit(OpKind::Barrier { kind, id, count })
    }

    fn number(&self, operand: Src) -> Option<u32> {
        self.constants.value32(operand).filter(|_| operand < 0)
    }

    /// Checks constant barrier numbers and thread counts. Registers are checked at run time.
    fn barrier_operands(&self, id: Src, count: Option<Src>) -> Result<()> {
        match (self.number(id), count.and_then(|count| self.number(count))) {
            (Some(id), _) if id >= BARRIERS => Err(self.invalid(format!(
                "there is no barrier {}: a block has the barriers 0 to {}",
                id as i32,
                BARRIERS - 1
            ))),
            (_, Some(count)) if !count.is_multiple_of(32) => Err(self.invalid(format!(
                "a barrier of {count} threads: it counts whole warps, so the number must be a multiple of 32"
            ))),
            _ => Ok(()),
        }
    }

    fn members(&mut self, operand: &'a Operand) -> Result<Src> {
        self.source(operand, Class::Bits32, Some(Type::B32))
    }

    /// Emits the mask of the converged lanes, for instructions without `.sync`.
    fn all_here(&mut self) -> Result<Src> {
        let dst = self.registers.fresh(Class::Bits32);
        self.emit(OpKind::ActiveMask { dst })?;
        Ok(dst as Src)
    }

    fn shuffle(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modes = [
            ("up", ShuffleMode::Up),
            ("down", ShuffleMode::Down),
            ("bfly", ShuffleMode::Bfly),
            ("idx", ShuffleMode::Idx),
        ];
        let mode = instruction.choice(&modes).ok_or_else(|| self.invalid("`shfl` needs a mode"))?;
        let sync = instruction.has("sync");
        self.count(instruction, if sync { 5 } else { 4 })?;
        let (to, pred) = pair(&instruction.operands[0]);
        let mut src = [NONE; 4];
        for (at, place) in src.iter_mut().enumerate().take(3) {
            *place = self.source(&instruction.operands[at + 1], Class::Bits32, Some(Type::B32))?;
        }
        src[3] = if sync { self.members(&instruction.operands[4])? } else { self.all_here()? };
        let dst = self.destination(to, Class::Bits32)?;
        let dst_pred = self.optional_predicate(pred)?;
        self.emit(OpKind::Shuffle { mode, dst, dst_pred, src })
    }

    fn optional_predicate(&mut self, operand: Option<&'a Operand>) -> Result<Option<u32>> {
        operand.map_or(Ok(None), |operand| self.wanted_destination(operand, Class::Pred))
    }

    fn vote(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modes =
            [("all", VoteMode::All), ("any", VoteMode::Any), ("uni", VoteMode::Uni), ("ballot", VoteMode::Ballot)];
        let mode = instruction.choice(&modes).ok_or_else(|| self.invalid("`vote` needs a mode"))?;
        let sync = instruction.has("sync");
        self.count(instruction, if sync { 3 } else { 2 })?;
        let (pred, negated) = self.predicate_operand(&instruction.operands[1])?;
        let members = if sync { self.members(&instruction.operands[2])? } else { self.all_here()? };
        let class = if mode == VoteMode::Ballot { Class::Bits32 } else { Class::Pred };
        let dst = self.destination(&instruction.operands[0], class)?;
        self.emit(OpKind::Vote { mode, dst, pred, negated, members })
    }

    fn match_lanes(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 3)?;
        let all = instruction.has("all");
        let wide = instruction.has("b64");
        if !instruction.has("sync") || !(wide || instruction.has("b32")) || !(all || instruction.has("any")) {
            return Err(self.not_supported(instruction));
        }
        let (to, pred) = pair(&instruction.operands[0]);
        let class = Class::of_width(wide);
        let value = self.source(&instruction.operands[1], class, None)?;
        let members = self.members(&instruction.operands[2])?;
        let dst = self.destination(to, Class::Bits32)?;
        let dst_pred = self.optional_predicate(pred)?;
        self.emit(OpKind::Match { all, wide, dst, dst_pred, src: [value, members] })
    }

    /// Lowers `elect.sync d|p, members`: the lowest lane is elected, as on hardware.
    fn elect(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let (to, pred) = pair(&instruction.operands[0]);
        let members = self.members(&instruction.operands[1])?;
        self.emit(OpKind::WarpSync { members })?;
        let none = self.constants.bits32(0, self.span)?;
        let negative = self.computed("sub", &["s32"], &[none, members])?;
        let lowest = self.computed("and", &["b32"], &[members, negative])?;
        let elected = self.computed("bfind", &["u32"], &[lowest])?;
        let special = special_registers::find("%laneid").ok_or_else(|| self.unsupported("`elect.sync`"))?;
        let own = self.special(special, "%laneid", Class::Bits32)?;
        let leads = self.computed("setp", &["eq", "u32"], &[own, elected])?;
        let dst = self.destination(to, Class::Bits32)?;
        self.builtin(Builtin::Mov32, dst, &[elected])?;
        match self.optional_predicate(pred)? {
            None => Ok(()),
            Some(pred) => self.builtin(Builtin::MovPred, pred, &[leads]),
        }
    }

    pub(super) fn computed(&mut self, opcode: &str, modifiers: &[&str], sources: &[Src]) -> Result<Src> {
        let Some(form) = lookup(opcode, modifiers, ResultPart::First, self.level) else {
            return Err(self.unsupported(format!("`{opcode}`")));
        };
        let dst = self.registers.fresh(form.dst);
        self.alu(form.into(), dst, sources)?;
        Ok(dst as Src)
    }

    fn redux(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 3)?;
        let signed = instruction.has("s32");
        let kind = match instruction.modifiers.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["sync", "add", "u32" | "s32"] => ReduxKind::Add,
            ["sync", "min", "u32" | "s32"] if signed => ReduxKind::MinS,
            ["sync", "max", "u32" | "s32"] if signed => ReduxKind::MaxS,
            ["sync", "min", "u32" | "s32"] => ReduxKind::MinU,
            ["sync", "max", "u32" | "s32"] => ReduxKind::MaxU,
            ["sync", "and", "b32"] => ReduxKind::And,
            ["sync", "or", "b32"] => ReduxKind::Or,
            ["sync", "xor", "b32"] => ReduxKind::Xor,
            _ => return Err(self.not_supported(instruction)),
        };
        let value = self.source(&instruction.operands[1], Class::Bits32, Some(Type::U32))?;
        let members = self.members(&instruction.operands[2])?;
        let dst = self.destination(&instruction.operands[0], Class::Bits32)?;
        self.emit(OpKind::Redux { kind, dst, src: [value, members] })
    }
}

/// Destinations of `d|p`; the second is `None` for a single operand.
fn pair(operand: &Operand) -> (&Operand, Option<&Operand>) {
    match operand {
        Operand::Pair(first, second) => (first, Some(second)),
        single => (single, None),
    }
}
