//! Undefined elements in products of a warpgroup: one of A makes a row of sums undefined, one of B a column.

use crate::exec::{block::shadow::Origins, worker::Worker};
use crate::lane_mask::LaneMask;
use arithmetic::products::AccumulatorType;
use program::mma::warpgroup::{self, WARP_ROWS};
use program::{Wgmma, WgmmaA, window};

/// First unwritten byte in shared memory, by row of A and column of B.
pub(in crate::exec) type Unwritten = [Vec<Option<u32>>; 2];

impl Worker<'_> {
    /// Propagates a product that the running warp issues, to existing accumulators if `adds`.
    pub(in crate::exec) fn propagate_wgmma(
        &mut self, wgmma: &Wgmma, pc: u32, active: LaneMask, adds: bool, unwritten: &Unwritten,
    ) {
        let whole = unwritten.iter().flatten().all(Option::is_none);
        if whole && self.checks.shadow.is_clean() {
            return;
        }
        let instr = self.job.instr_at(pc);
        let first_lane = active.first() & 31;
        let mut rows = [None; WARP_ROWS];
        let mut columns = vec![None; usize::from(wgmma.n)];
        for (which, lines) in [&mut rows[..], &mut columns[..]].into_iter().enumerate() {
            let element = warpgroup::element_bytes(wgmma.kinds[which]) as u32;
            for (line, offset) in lines.iter_mut().zip(&unwritten[which]) {
                *line = offset.map(|offset| {
                    let at = window::SHARED + u64::from(offset);
                    Origins::one(self.origin_of(at, at, element, instr, first_lane))
                });
            }
        }
        if let WgmmaA::Registers(registers) = &wgmma.a {
            for (register, &src) in registers.iter().enumerate() {
                let Some(spot) = self.checks.shadow.source(src) else { continue };
                for lane in (self.checks.shadow.lanes(spot) & active).iter() {
                    let row = &mut rows[warpgroup::a_register(lane, register).0];
                    row.get_or_insert(Origins::NONE).join(&self.checks.shadow.origins(spot, lane));
                }
            }
        }
        for (at, &line) in wgmma.d.iter().enumerate() {
            let spot = self.checks.shadow.line(line);
            let pair = match wgmma.sum {
                AccumulatorType::F32 => at / 2,
                AccumulatorType::F16 => at,
            };
            for lane in active.iter() {
                let (row, column) = warpgroup::accumulator(lane, pair);
                let own = if adds { self.checks.shadow.bits(spot, lane) } else { 0 };
                let mut origins = Origins::NONE;
                if own != 0 {
                    origins.join(&self.checks.shadow.origins(spot, lane));
                }
                let mut undefined = 0;
                let elements: &[(usize, u64)] = match wgmma.sum {
                    AccumulatorType::F32 => &[(at % 2, 0xffff_ffff)],
                    AccumulatorType::F16 => &[(0, 0xffff), (1, 0xffff_0000)],
                };
                for &(next, mask) in elements {
                    let factors = [rows[row], columns[column + next]];
                    if own & mask != 0 || factors.iter().any(Option::is_some) {
                        undefined |= mask;
                    }
                    factors.iter().flatten().for_each(|more| origins.join(more));
                }
                origins.compute(instr);
                self.checks.shadow.undefine(spot, lane, undefined, origins);
            }
        }
    }
}
