//! `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`: what a warp does with tiles, all its lanes together.

use std::ops::ControlFlow;

use crate::check::{AccessKind, MistakeDetails, WrongMask};
use crate::lane_mask::LaneMask;
use program::{MatrixAccess, Mma};

use crate::exec::fiber::{AfterOp, MeetingPlace};
use crate::exec::memory::{access_spec::AccessSpec, load_store::Located};
use crate::exec::worker::Worker;

/// Returns the row and column of the two elements of a lane's register in an 8x8 matrix.
pub(crate) fn elements(lane: usize, transposed: bool) -> [(usize, usize); 2] {
    let (across, pair) = (lane / 4, 2 * (lane % 4));
    if transposed { [(pair, across), (pair + 1, across)] } else { [(across, pair), (across, pair + 1)] }
}

impl Worker<'_> {
    /// Makes the fiber wait if lanes are missing at an instruction that all lanes of a warp must execute together.
    pub(crate) fn wait_for_all_lanes(&mut self, pc: u32, active: LaneMask) -> ControlFlow<AfterOp> {
        if active.is_all() {
            return ControlFlow::Continue(());
        }
        let first = !self.warp.fiber.forced;
        let after = self.wait_for_lanes(LaneMask::ALL, MeetingPlace::At(pc), pc, active);
        if first && self.job.check_level.checks() {
            self.wrong_mask(pc, active, LaneMask::ALL, active, WrongMask::Missing);
        }
        after
    }

    pub(crate) fn mma(&mut self, mma: &Mma, pc: u32, active: LaneMask) {
        let [n_a, n_b, n_d] = mma.form.registers();
        self.spent += mma.form.products();
        if mma.foreign != [None; 3] && self.job.check_level.checks() {
            for foreign in mma.foreign.into_iter().flatten() {
                self.record_mistake(pc, active, MistakeDetails::Fragment { foreign });
            }
        }
        if !self.checks.shadow.is_clean() {
            self.propagate_mma(mma, pc, active);
        }
        if mma.form.is_wide() {
            let read = |src: i32| std::array::from_fn(|lane| self.u64_at(src, lane));
            let a: [[u64; 32]; 8] = std::array::from_fn(|i| if i < n_a { read(mma.a[i]) } else { [0; 32] });
            let b: [[u64; 32]; 4] = std::array::from_fn(|i| if i < n_b { read(mma.b[i]) } else { [0; 32] });
            let mut d: [[u64; 32]; 4] = std::array::from_fn(|i| if i < n_d { read(mma.c[i]) } else { [0; 32] });
            mma.form.multiply_f64(&a[..n_a], &b[..n_b], &mut d[..n_d]);
            for (dst, values) in mma.d.iter().zip(&d).take(n_d) {
                let out = self.out64(*dst);
                active.iter().for_each(|lane| out[lane] = values[lane]);
            }
            return;
        }
        let (mut a, mut b, mut d) = ([[0; 32]; 4], [[0; 32]; 4], [[0; 32]; 4]);
        let sources = [(&mut a, &mma.a[..n_a]), (&mut b, &mma.b[..n_b]), (&mut d, &mma.c[..n_d])];
        for (to, from) in sources {
            to.iter_mut().zip(from).for_each(|(to, &src)| *to = self.u32s(src));
        }
        let metadata = mma.metadata.map(|metadata| self.u32s(metadata));
        mma.form.multiply(&a[..n_a], &b[..n_b], &mut d[..n_d], metadata.as_ref());
        for (dst, values) in mma.d.iter().zip(&d).take(n_d) {
            let out = self.out32(*dst);
            if active.is_all() {
                *out = *values;
            } else {
                active.iter().for_each(|lane| out[lane] = values[lane]);
            }
        }
    }

    fn spec<'a>(&self, access: &'a MatrixAccess, kind: AccessKind, pc: u32) -> AccessSpec<'a> {
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        AccessSpec::weak(access.space, &access.addr, 16, kind, pc, memo)
    }

    pub(crate) fn load_matrices(&mut self, access: &MatrixAccess, pc: u32, active: LaneMask) {
        let lanes = active & LaneMask::from_bits(access.lanes());
        let spec = self.spec(access, AccessKind::Read, pc);
        let mut rows = [[0_u16; 8]; 32];
        if !lanes.is_empty() {
            let Located { lanes: good, addresses: place, .. } = self.locate_any(spec, lanes);
            for lane in good.iter() {
                // SAFETY: `locate` has found 16 readable bytes for these lanes.
                rows[lane] = unsafe { place.of(lane).cast::<[u16; 8]>().read_unaligned() };
            }
        }
        for (matrix, dst) in access.destinations().enumerate() {
            for lane in active.iter() {
                let [low, high] = elements(lane, access.transposed)
                    .map(|(row, column)| u32::from(rows[(8 * matrix + row) & 31][column & 7]));
                self.set32(dst, lane, low | high << 16);
            }
        }
        self.propagate_matrices(access, pc, active);
    }

    pub(crate) fn store_matrices(&mut self, access: &MatrixAccess, pc: u32, active: LaneMask) {
        let lanes = active & LaneMask::from_bits(access.lanes());
        if lanes.is_empty() {
            return;
        }
        let mut rows = [[0_u16; 8]; 32];
        for (matrix, &src) in access.regs.iter().take(usize::from(access.n)).enumerate() {
            let values = self.u32s(src);
            for lane in active.iter() {
                let [first, second] = elements(lane, access.transposed);
                rows[(8 * matrix + first.0) & 31][first.1 & 7] = values[lane] as u16;
                rows[(8 * matrix + second.0) & 31][second.1 & 7] = (values[lane] >> 16) as u16;
            }
        }
        let is_clean = self.checks.shadow.is_clean();
        let holes = if is_clean { Vec::new() } else { self.check_stored_matrices(access, pc, active) };
        let spec = self.spec(access, AccessKind::Write, pc);
        let Located { lanes: good, addresses: place, .. } = self.locate_any(spec, lanes);
        for lane in good.iter() {
            // SAFETY: `locate` has found 16 writable bytes for these lanes.
            unsafe { place.of(lane).cast::<[u16; 8]>().write_unaligned(rows[lane]) };
        }
        if !holes.is_empty() {
            self.leave_matrix_holes(&holes, &spec, good);
        }
        self.activity.progress = true;
        self.warp.fiber.polls = 0;
    }

    pub(crate) fn move_matrix(&mut self, dst: u32, src: i32, active: LaneMask) {
        let values = self.u32s(src);
        let element = |row: usize, column: usize| {
            let value = values[(4 * row + column / 2) & 31];
            if column.is_multiple_of(2) { value & 0xffff } else { value >> 16 }
        };
        for lane in active.iter() {
            let [low, high] = elements(lane, true).map(|(row, column)| element(row, column));
            self.out32(dst)[lane] = low | high << 16;
        }
        if !self.checks.shadow.is_clean() {
            self.propagate_moved_matrix(dst, src, active);
        }
    }
}
