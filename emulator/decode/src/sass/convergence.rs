//! Reconvergence points of the convergence barriers, at each instruction.

use sass::Instruction;
use sass::instruction::{Operand, Predicate, Value};
use sass::operation::{Modifier, Operation};

use crate::error::Result;
use program::limits::Account;

/// Barriers `B0` to `B15`.
const BARRIERS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReconvergencePoint {
    Unreached,
    /// Lanes reconverge at this instruction.
    At(u32),
    /// Paths disagree.
    Various,
}

/// Reconvergence points by instruction and barrier.
#[derive(Debug, Default)]
pub(super) struct Reconvergence {
    known: Vec<[ReconvergencePoint; BARRIERS]>,
}

impl Reconvergence {
    /// Follows all paths through the code. Only code with `BREAK` needs it; other code gets an empty table.
    pub(super) fn new(code: &[Instruction], account: &Account) -> Result<Reconvergence> {
        if !code.iter().any(|instruction| instruction.operation == Operation::Break) {
            return Ok(Reconvergence::default());
        }
        account.bytes((code.len() * size_of::<[ReconvergencePoint; BARRIERS]>()) as u64)?;
        let mut known = vec![[ReconvergencePoint::Unreached; BARRIERS]; code.len()];
        let mut waiting = vec![0];
        let mut seen = vec![false; code.len()];
        // An entry changes twice at most.
        while let Some(at) = waiting.pop() {
            seen[at] = true;
            let instruction = &code[at];
            let operation = instruction.operation;
            let target = instruction
                .label()
                .and_then(|label| usize::try_from(label / 16).ok())
                .filter(|&target| target < code.len());
            let mut after = known[at];
            if operation == Operation::Bssy
                && let (Some(barrier), Some(target)) = (barrier(instruction), target)
            {
                after[barrier] = ReconvergencePoint::At(target as u32);
            }
            // A saved barrier is restored.
            if operation == Operation::Bmov
                && let Some(Value::Barrier(barrier)) = instruction.destinations().first().map(|operand| operand.value)
                && let Some(known) = after.get_mut(usize::from(barrier))
            {
                *known = ReconvergencePoint::Various;
            }
            let unconditional = |operand: &Operand| match operand.value {
                Value::Predicate(predicate) | Value::UniformPredicate(predicate) => {
                    predicate == Predicate::TRUE && !operand.negated
                }
                _ => true,
            };
            let ends = matches!(
                operation,
                Operation::Exit | Operation::Bra | Operation::Ret | Operation::Brx | Operation::Call
            ) && instruction.guard.is_always()
                && instruction.sources().iter().all(unconditional)
                && !instruction.has(Modifier::Div);
            let next = (!ends || operation == Operation::Call).then_some(at + 1).filter(|&next| next < code.len());
            let jumps = target.filter(|_| matches!(operation, Operation::Bra | Operation::Call | Operation::Bssy));
            for next in next.into_iter().chain(jumps) {
                let mut changed = !seen[next];
                for (old, new) in known[next].iter_mut().zip(after) {
                    let joined = match (*old, new) {
                        (old, ReconvergencePoint::Unreached) => old,
                        (ReconvergencePoint::Unreached, new) => new,
                        (old, new) if old == new => old,
                        _ => ReconvergencePoint::Various,
                    };
                    changed |= joined != *old;
                    *old = joined;
                }
                if changed {
                    waiting.push(next);
                }
            }
        }
        Ok(Reconvergence { known })
    }

    /// Returns where the lanes of a barrier reconverge, for the barrier's state at an instruction.
    pub(super) fn point_of(&self, at: u32, barrier: usize) -> Option<u32> {
        match self.known.get(at as usize)?.get(barrier)? {
            ReconvergencePoint::At(place) => Some(*place),
            _ => None,
        }
    }
}

/// Returns for each instruction whether it is a `BSYNC` in front of the position that a `BSSY` of its barrier names.
pub(super) fn reconverging_syncs(code: &[Instruction]) -> Vec<bool> {
    let mut places = vec![false; code.len()];
    for instruction in code.iter().filter(|instruction| instruction.operation == Operation::Bssy) {
        let target = instruction.label().and_then(|label| usize::try_from(label / 16).ok());
        if let Some(before) = target.and_then(|target| sync_before(code, target, instruction)) {
            places[before] = true;
        }
    }
    places
}

/// Returns the `BSYNC` of the barrier of a `BSSY` in front of a position, if that is there.
pub(super) fn sync_before(code: &[Instruction], position: usize, start: &Instruction) -> Option<usize> {
    let before = position.checked_sub(1)?;
    let waits = code.get(before)?;
    (waits.operation == Operation::Bsync && barrier(waits) == barrier(start)).then_some(before)
}

/// Returns the convergence barrier that an instruction names.
pub(super) fn barrier(instruction: &Instruction) -> Option<usize> {
    instruction.operands.iter().find_map(|operand| match operand.value {
        Value::Barrier(barrier) if usize::from(barrier) < BARRIERS => Some(usize::from(barrier)),
        _ => None,
    })
}
