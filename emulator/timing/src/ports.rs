//! Reading operands: two banks of registers, and the reuse cache.

use crate::instruction::Instruction;

#[derive(Debug, Clone, Default)]
pub(crate) struct Ports {
    /// Times until which each bank is busy.
    busy: [u64; 2],
    /// Registers of the warp that issued last, kept by operand place.
    kept: [Option<u8>; 3],
    warp: u32,
}

impl Ports {
    /// Reads the operands of `instruction` at `now`, and returns when the ports allow the scheduler to issue again.
    /// Each bank delivers one register per clock; up to `slack` clocks of reads may be outstanding.
    pub(crate) fn read(&mut self, instruction: &Instruction, warp: u32, now: u64, slack: u64) -> u64 {
        if warp != self.warp {
            self.kept = [None; 3];
            self.warp = warp;
        }
        // A register in two places is read once.
        let mut read = [None; 6];
        let mut n_read = 0;
        for (place, source) in instruction.sources.iter().enumerate() {
            let Some(source) = source else { continue };
            let is_kept = self.kept[place] == Some(source.register);
            self.kept[place] = source.reuse.then_some(source.register);
            if is_kept {
                continue;
            }
            for register in (0..source.n.min(2)).map(|i| source.register.wrapping_add(i)) {
                if !read[..n_read].contains(&Some(register)) {
                    read[n_read] = Some(register);
                    n_read += 1;
                }
            }
        }
        for register in read.iter().flatten() {
            let bank = &mut self.busy[usize::from(register % 2)];
            *bank = (*bank).max(now) + 1;
        }
        let last = self.busy[0].max(self.busy[1]);
        last.saturating_sub(slack).max(now + 1)
    }
}
