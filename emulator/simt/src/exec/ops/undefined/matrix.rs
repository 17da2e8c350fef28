//! Undefined elements of tiles: through products, and between memory and the registers of several lanes.

use super::NOWHERE;
use crate::check::{CopiedBy, Use};
use crate::exec::block::shadow::{Origin, Origins};
use crate::exec::{memory::access_spec::AccessSpec, memory::per_lane, ops::matrix::elements};
use crate::exec::{runs, worker::Worker};
use crate::lane_mask::LaneMask;
use program::mma::layout::UndefinedLanes;
use program::{MatrixAccess, Mma};

/// Undefined bytes of stored matrix rows: the lane with the row's address, a mask, and the first one's origin.
pub(in crate::exec) type Holes = Vec<(usize, u32, Origin)>;

impl Worker<'_> {
    /// Propagates an MMA: an undefined element of A reaches a row of D, one of B a column.
    #[cold]
    pub(in crate::exec) fn propagate_mma(&mut self, mma: &Mma, pc: u32, active: LaneMask) {
        let instr = self.job.instr_at(pc);
        let [n_a, n_b, n_d] = mma.form.registers();
        let lanes = |src: &i32| {
            let spot = self.checks.shadow.source(*src);
            spot.map_or(0, |spot| (self.checks.shadow.lanes(spot) & active).bits())
        };
        let (a, b): (Vec<u32>, Vec<u32>) =
            (mma.a[..n_a].iter().map(lanes).collect(), mma.b[..n_b].iter().map(lanes).collect());
        let values = mma.metadata.map(|metadata| self.u32s(metadata));
        let metadata = mma.metadata.map_or(0, |metadata| lanes(&metadata));
        let undefined = UndefinedLanes { a: &a, b: &b, metadata, values: values.as_ref() };
        let of_a: Vec<i32> = mma.a[..n_a].iter().copied().chain(mma.metadata).collect();
        let mut results = Vec::with_capacity(n_d);
        for (register, &c) in mma.c[..n_d].iter().enumerate() {
            let reached = mma.form.reached(&undefined, register);
            let own = self.checks.shadow.source(c);
            results.push(std::array::from_fn::<_, 32, _>(|lane| {
                let from_c = own.map_or(0, |spot| self.checks.shadow.bits(spot, lane));
                let undefined = reached[lane].undefined | mma.form.whole_sums(from_c);
                let mut origins = Origins::NONE;
                let factors = [(reached[lane].a, &of_a[..]), (reached[lane].b, &mma.b[..])];
                for (found, registers) in factors {
                    if let Some((register, lane)) = found
                        && let Some(spot) = self.checks.shadow.source(registers[register])
                    {
                        origins.join(&self.checks.shadow.origins(spot, lane));
                    }
                }
                if let Some(spot) = own.filter(|_| from_c != 0) {
                    origins.join(&self.checks.shadow.origins(spot, lane));
                }
                origins.compute(instr);
                (undefined, origins)
            }));
        }
        for (&dst, result) in mma.d.iter().zip(results) {
            let spot = self.checks.shadow.line(dst);
            for lane in active.iter() {
                let (undefined, origins) = result[lane];
                self.checks.shadow.undefine(spot, lane, undefined, origins);
            }
        }
    }

    /// Propagates undefined bytes that `ldmatrix` has read in rows.
    #[inline]
    pub(in crate::exec) fn propagate_matrices(&mut self, access: &MatrixAccess, pc: u32, active: LaneMask) {
        if !self.checks.fresh.lanes.is_empty() || !self.checks.shadow.is_clean() {
            self.propagate_fresh_matrices(access, pc, active);
        }
    }

    #[cold]
    fn propagate_fresh_matrices(&mut self, access: &MatrixAccess, pc: u32, active: LaneMask) {
        let instr = self.job.instr_at(pc);
        let fresh = std::mem::take(&mut self.checks.fresh.lanes);
        let fresh = fresh & !self.report_in_flight(fresh, 16, instr);
        for (matrix, dst) in access.destinations().enumerate() {
            let Some(dst) = dst else { continue };
            let spot = self.checks.shadow.line(dst);
            self.checks.shadow.define(spot, active);
            for lane in active.iter() {
                let (mut undefined, mut origins) = (0, Origins::NONE);
                for (half, (row, column)) in elements(lane, access.transposed).into_iter().enumerate() {
                    let row = (8 * matrix + row) & 31;
                    let bytes = self.checks.fresh.bytes[row] >> (2 * column) & 3;
                    if !fresh.contains(row) || bytes == 0 {
                        continue;
                    }
                    let whole = (u64::from(bytes & 1) * 0xff) | (u64::from(bytes >> 1) * 0xff00);
                    undefined |= whole << (16 * half);
                    let at = self.checks.fresh.address[row];
                    let first = at + 2 * column as u64 + u64::from(bytes.trailing_zeros());
                    origins.join(&Origins::one(self.origin_of(at, first, 16, instr, row)));
                }
                if undefined != 0 {
                    self.checks.shadow.undefine(spot, lane, undefined, origins);
                }
            }
        }
    }

    /// Returns which bytes that `stmatrix` is about to store are undefined and only moved; reports computed ones.
    #[cold]
    pub(in crate::exec) fn check_stored_matrices(&mut self, access: &MatrixAccess, pc: u32, active: LaneMask) -> Holes {
        let instr = self.job.instr_at(pc);
        let mut holes: Holes = Vec::new();
        for (matrix, &src) in access.regs.iter().take(usize::from(access.n)).enumerate() {
            let Some(spot) = self.checks.shadow.source(src) else { continue };
            let lanes = self.checks.shadow.lanes(spot) & active;
            let computed = lanes.filter(|lane| self.checks.shadow.origins(spot, lane).is_computed());
            self.undefined_use(spot, computed, Use::Stored { by: instr }, instr);
            for lane in (lanes & !computed).iter() {
                let undefined = self.checks.shadow.bits(spot, lane);
                let origin = self.checks.shadow.origins(spot, lane).first();
                for (half, (row, column)) in elements(lane, access.transposed).into_iter().enumerate() {
                    let row = 8 * matrix + row;
                    for byte in 0..2 {
                        if undefined >> (16 * half + 8 * byte) & 0xff != 0xff || origin.load == NOWHERE {
                            continue;
                        }
                        let bit = 1 << (2 * column + byte);
                        match holes.iter_mut().find(|(known, ..)| *known == row) {
                            Some((_, mask, _)) => *mask |= bit,
                            None => holes.push((row, bit, origin)),
                        }
                    }
                }
            }
        }
        holes
    }

    /// Keeps undefined bytes that `stmatrix` moved undefined in memory, which counts as written by now.
    #[cold]
    pub(in crate::exec) fn leave_matrix_holes(&mut self, holes: &Holes, spec: &AccessSpec<'_>, good: LaneMask) {
        let addresses = per_lane::addresses(self, spec);
        let instr = self.job.instr_at(spec.pc);
        for &(lane, mask, origin) in holes.iter().filter(|(lane, ..)| good.contains(*lane)) {
            let at = addresses[lane];
            let origin = Origin { copied: Some(CopiedBy::Instr(instr)), ..origin };
            for (start, n) in runs(mask) {
                for byte in start..start + n {
                    let place = self.carried_place(at + byte as u64, lane);
                    self.block.carried.put(place, origin);
                }
            }
            self.set_written(at, 16, mask, lane);
        }
    }

    /// Propagates undefined elements through `movmatrix`, which moves them to other lanes.
    #[cold]
    pub(in crate::exec) fn propagate_moved_matrix(&mut self, dst: u32, src: i32, active: LaneMask) {
        let source = self.checks.shadow.source(src);
        let moved: [(u64, Origins); 32] = std::array::from_fn(|lane| {
            let (mut undefined, mut origins) = (0, Origins::NONE);
            let Some(source) = source else { return (undefined, origins) };
            for (half, (row, column)) in elements(lane, true).into_iter().enumerate() {
                let from = (4 * row + column / 2) & 31;
                let bits = self.checks.shadow.bits(source, from) >> (16 * (column % 2)) & 0xffff;
                if bits != 0 {
                    undefined |= bits << (16 * half);
                    origins.join(&self.checks.shadow.origins(source, from));
                }
            }
            (undefined, origins)
        });
        let spot = self.checks.shadow.line(dst);
        for lane in active.iter() {
            let (undefined, origins) = moved[lane];
            self.checks.shadow.undefine(spot, lane, undefined, origins);
        }
    }
}
