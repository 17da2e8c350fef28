//! Facts about registers, known before a kernel runs: trailing zero bits, and constant distances.

use std::collections::HashMap;

use crate::passes::{InitialRegisters, cfg::Cfg, constants::Constants};
use crate::virtual_op::{BitRule, TRUE, VirtualOp, for_each_register};
use arithmetic::lanes::{Class, Src};
use program::OpKind;

/// Bound on the rounds of the search for trailing zeros; programs that need more have none.
const MAX_ROUNDS: usize = 16;
/// Bound on the steps from an address register back to its origin.
const MAX_STEPS: usize = 16;

/// Trailing zero bits of registers, and their constant distances from others.
pub(crate) struct Distances<'a> {
    constants: &'a Constants,
    zeros: Vec<u8>,
    /// Origin and distance of registers that are written once, as another register plus a constant, in the same block.
    origin: HashMap<u32, (u32, i64)>,
    /// Position where each register is written; [`MANY`] for several.
    written: Vec<u32>,
}

/// Value of [`Distances::written`] for a register that is written more than once.
const MANY: u32 = u32::MAX - 1;

impl<'a> Distances<'a> {
    pub(crate) fn new(ops: &[VirtualOp], cfg: &Cfg, registers: InitialRegisters<'a>) -> Distances<'a> {
        let mut known = Distances {
            constants: registers.constants,
            zeros: vec![64; registers.n],
            origin: HashMap::new(),
            written: vec![u32::MAX; registers.n],
        };
        for &register in registers.preset {
            known.zeros[register as usize] = 0;
        }

        // A register without writes is 0; writes can only take zeros away.
        let settled = (0..MAX_ROUNDS).any(|_| {
            let mut changed = false;
            for op in ops {
                let zeros = known.zeros_of_result(op);
                for_each_register(op, &mut |register, _, role| {
                    let fewest = &mut known.zeros[register as usize];
                    if !role.is_use() && zeros < *fewest {
                        *fewest = zeros;
                        changed = true;
                    }
                });
            }
            !changed
        });
        if !settled {
            known.zeros.fill(0);
        }

        // Position of the only write of each register.
        for (at, op) in ops.iter().enumerate() {
            for_each_register(op, &mut |register, _, role| {
                if !role.is_use() {
                    let place = &mut known.written[register as usize];
                    *place = if *place == u32::MAX { at as u32 } else { MANY };
                }
            });
        }
        for block in 0..cfg.n_blocks() as u32 {
            for at in cfg.range(block) {
                let op = &ops[at as usize];
                let Some((dst, src, offset)) = known.step(op) else { continue };
                let from = known.written[src as usize];
                if known.written[dst as usize] == at && cfg.range(block).contains(&from) && from < at {
                    known.origin.insert(dst, (src, offset));
                }
            }
        }
        known
    }

    /// Matches `dst = src + constant`, for all lanes.
    fn step(&self, op: &VirtualOp) -> Option<(u32, u32, i64)> {
        let OpKind::Alu { args, .. } = &op.kind else { return None };
        if op.guard != TRUE || op.classes.dst == Class::Pred {
            return None;
        }
        let [a, b, ..] = args.src;
        let wide = op.classes.dst == Class::Bits64;
        match op.rule {
            BitRule::Sum if a >= 0 && b < 0 => Some((args.dst, a as u32, self.constant(b, wide)?)),
            BitRule::Sum if a < 0 && b >= 0 => Some((args.dst, b as u32, self.constant(a, wide)?)),
            BitRule::Difference if a >= 0 && b < 0 => {
                Some((args.dst, a as u32, self.constant(b, wide)?.wrapping_neg()))
            }
            BitRule::Same if op.moves && a >= 0 => Some((args.dst, a as u32, 0)),
            _ => None,
        }
    }

    /// Returns the value of a constant that is small enough for an offset.
    fn constant(&self, src: Src, wide: bool) -> Option<i64> {
        let value =
            if wide { self.constants.value64(src)? as i64 } else { i64::from(self.constants.value32(src)? as i32) };
        (value.unsigned_abs() < 1 << 20).then_some(value)
    }

    /// Returns the register that an address is a constant away from (−1 for constants), and the distance.
    pub(crate) fn base(&self, src: Src, offset: i64) -> (Src, i64) {
        if src < 0 {
            // Constant addresses are offsets from 0.
            let value = self.constants.value32(src).unwrap_or(0);
            return (-1, offset.wrapping_add(i64::from(value)));
        }
        let (mut src, mut offset) = (src as u32, offset);
        for _ in 0..MAX_STEPS {
            match self.origin.get(&src) {
                Some(&(before, more)) => (src, offset) = (before, offset.wrapping_add(more)),
                None => break,
            }
        }
        (src as Src, offset)
    }

    /// Returns whether at most one place of the program writes the register.
    pub(crate) fn written_once(&self, register: u32) -> bool {
        self.written[register as usize] != MANY
    }

    /// Returns the number of trailing zero bits that a base is known to have.
    pub(crate) fn zeros_of(&self, base: Src) -> u8 {
        if base < 0 { 64 } else { self.zeros[base as usize] }
    }

    fn zeros_of_source(&self, src: Src, class: Class) -> u8 {
        if src >= 0 {
            return self.zeros[src as usize];
        }
        let value = match class {
            Class::Bits64 => self.constants.value64(src),
            _ => self.constants.value32(src).map(u64::from),
        };
        value.map_or(0, |v| v.trailing_zeros() as u8)
    }

    /// Returns the number of trailing zero bits of the result of an instruction, by its rule.
    fn zeros_of_result(&self, op: &VirtualOp) -> u8 {
        let OpKind::Alu { args, .. } = &op.kind else { return 0 };
        let zeros = |i: usize| match op.classes.srcs.get(i) {
            Some(&class) => self.zeros_of_source(args.src[i], class),
            None => 0,
        };
        match op.rule {
            BitRule::Unknown => 0,
            BitRule::Same => zeros(0),
            BitRule::Sum | BitRule::Difference | BitRule::Either => zeros(0).min(zeros(1)),
            BitRule::Product => zeros(0).saturating_add(zeros(1)).min(64),
            BitRule::ProductSum => zeros(0).saturating_add(zeros(1)).min(zeros(2)),
            BitRule::ShiftLeft => {
                let amount = self.constants.value32(args.src[1]).filter(|_| args.src[1] < 0);
                zeros(0).saturating_add(amount.unwrap_or(0).min(64) as u8).min(64)
            }
            BitRule::And => zeros(0).max(zeros(1)),
        }
    }
}
