//! Checks of products of a warpgroup.

use crate::check::race::{AccessMark, ByteRun, Touch};
use crate::check::{AccessKind, BadAccess, BadWgmma, MistakeDetails};
use crate::{lane_mask::LaneMask, memory::rules};
use program::mma::warpgroup::{self, Descriptor, PIECE, WARP_ROWS, WARPS};
use program::tensor::Swizzle;
use program::{MemSpace, Op, OpKind, RANK_SHIFT, Wgmma, WgmmaA};

use crate::exec::block::bulk_copies::BulkCopy;
use crate::exec::block::warpgroups::{FactorBytes, PendingProduct, WarpPart, WarpProgress};
use crate::exec::{fiber::FiberState, ops::undefined::Unwritten, worker::Worker};

/// Offset that stands for an mbarrier, where a wait of a warpgroup orders the reads of its other warps.
const HANDOVER: u32 = 0xffff_ff00;

impl Worker<'_> {
    /// Returns the pieces that the running warp reads of a factor: its rows of A (0), all columns of B (1).
    pub(super) fn pieces(&self, wgmma: &Wgmma, factor: usize, descriptor: u64) -> Vec<u32> {
        let decoded = Descriptor::decode(descriptor);
        let (first, n) = match factor {
            0 => (self.warp.index % WARPS * WARP_ROWS as u32, WARP_ROWS as u32),
            _ => (0, u32::from(wgmma.n)),
        };
        if wgmma.transposed[factor] {
            let pieces = first / 8..(first + n) / 8;
            return pieces.flat_map(|piece| (0..16).map(move |k| decoded.mn_major(k, piece))).collect();
        }
        let mut pieces = Vec::with_capacity(2 * n as usize);
        (first..first + n).for_each(|row| pieces.extend([0, 1].map(|half| decoded.k_major(row, half))));
        pieces
    }

    /// Checks a product that the running warp is about to issue. Gives what its factors hold.
    pub(super) fn check_wgmma(
        &mut self, wgmma: &Wgmma, pc: u32, active: LaneMask, descriptors: [u64; 2], adds: bool,
    ) -> [FactorBytes; 2] {
        let away = self.warp.live & !active;
        if !away.is_empty() {
            self.report_wgmma(pc, active, BadWgmma::Apart { missing: away });
        }
        let registers = [
            Some(wgmma.b),
            match wgmma.a {
                WgmmaA::Shared(a) => Some(a),
                WgmmaA::Registers(_) => None,
            },
        ];
        for (factor, register) in registers.into_iter().flatten().zip([1, 0]).map(|(r, w)| (w, r)) {
            let values = active.iter().map(|lane| self.u64_at(register, lane));
            if let Some(other) = values.into_iter().find(|value| *value != descriptors[factor]) {
                let problem = BadWgmma::Differs {
                    factor: NAMES[factor],
                    warp: self.warp.index,
                    values: [descriptors[factor], other],
                };
                self.report_wgmma(pc, active, problem);
            }
        }
        let mut seen = [FactorBytes::new(), FactorBytes::new()];
        let mut unwritten = Unwritten::default();
        for factor in [0, 1] {
            if factor == 0 && matches!(wgmma.a, WgmmaA::Registers(_)) {
                continue;
            }
            if self.has_rank_in_leading(wgmma, factor, descriptors[factor], pc, active) {
                continue;
            }
            let pieces = self.pieces(wgmma, factor, descriptors[factor]);
            let swizzle = Descriptor::decode(descriptors[factor]).swizzle;
            let start = Descriptor::decode(descriptors[factor]).start;
            if self.leaves_its_array(&pieces, start, factor, pc, active) {
                continue;
            }
            if !self.has_swizzle(&pieces, swizzle, factor, pc, active) {
                continue;
            }
            if self.reads_too_early(&pieces, warpgroup::element_bytes(wgmma.kinds[factor]) as u32, pc, active) {
                continue;
            }
            unwritten[factor] = self.unwritten_lines(&pieces, wgmma.transposed[factor]);
            if unwritten[factor].iter().any(Option::is_some) {
                // Where barriers of the block make the order, a missing one shows as a race.
                let phases = |op: &Op| matches!(op.kind, OpKind::Mbarrier(_));
                if !self.job.kernel.ops.iter().any(phases) {
                    self.touch_pieces(&pieces, pc);
                }
                continue;
            }
            if let Some(address) = self.block.bulk.unfenced(&pieces) {
                let address = address.into();
                self.record_mistake(pc, active, MistakeDetails::Proxy { address });
            }
            self.touch_pieces(&pieces, pc);
            let shared = self.shared_bytes_now();
            seen[factor] = pieces.iter().map(|&at| (at, shared.piece(at))).collect();
        }
        self.propagate_wgmma(wgmma, pc, active, adds, &unwritten);
        let warp = self.warp.index;
        if let Some(clocks) = self.checks.clocks() {
            clocks.arrive_at_mbarrier(HANDOVER + warp / WARPS, warp);
        }
        seen
    }

    /// Returns whether the rank of the block that runs has got into the leading dimension's offset, by an address whose
    /// upper bits were not masked, and elements are read from elsewhere by that. The descriptor of the block of rank 0
    /// shows it, which has no such bits; it may be the last to come to the product.
    fn has_rank_in_leading(
        &mut self, wgmma: &Wgmma, factor: usize, descriptor: u64, pc: u32, active: LaneMask,
    ) -> bool {
        if self.job.cluster_blocks == 1 {
            return false;
        }
        let key = (pc, factor);
        self.block.warpgroups.last.insert(key, descriptor);
        let descriptor_of = |worker: &Self, rank: u32| {
            if rank == worker.block.rank {
                Some(descriptor)
            } else {
                worker.member(rank)?.warpgroups.last.get(&key).copied()
            }
        };
        let ranks = match self.block.rank {
            0 => 1..self.job.cluster_blocks,
            rank => rank..rank + 1,
        };
        let found = descriptor_of(self, 0).and_then(|first| {
            ranks
                .filter_map(|rank| Some((rank, descriptor_of(self, rank)?, first)))
                .find(|&(rank, other, first)| is_off_by_rank(other, first, rank))
        });
        let Some((rank, other, first)) = found else { return false };
        let leading = [other, first].map(|bits| Descriptor::decode(bits).leading);
        let without = other & !LEADING | first & LEADING;
        if self.pieces(wgmma, factor, other) == self.pieces(wgmma, factor, without) {
            return false;
        }
        let factor = NAMES[factor];
        self.report_wgmma(pc, active, BadWgmma::Rank { factor, rank, leading });
        rank == self.block.rank
    }

    pub(super) fn report_wgmma(&mut self, pc: u32, active: LaneMask, problem: BadWgmma) {
        self.record_mistake(pc, active, MistakeDetails::Wgmma { problem });
        if matches!(problem, BadWgmma::Outside { .. }) {
            // The product reads memory of others, whose copies overwrite it: later mistakes may follow from that.
            self.note_misuse();
        }
    }

    /// Returns whether pieces lie outside of the array in which the factor starts.
    fn leaves_its_array(&mut self, pieces: &[u32], start: u32, factor: usize, pc: u32, active: LaneMask) -> bool {
        let (from, to) = self.block.shared_range(self.job, start.into()).unwrap_or((0, 0));
        let outside = pieces.iter().find(|&&at| at < from || at + PIECE > to);
        if let Some(&address) = outside {
            let problem = BadWgmma::Outside { factor: NAMES[factor], start, address, array: (from, to) };
            self.report_wgmma(pc, active, problem);
        }
        outside.is_some()
    }

    /// Returns whether a copy to one of the pieces is in flight. `element` is the size of one element in bytes.
    fn reads_too_early(&mut self, pieces: &[u32], element: u32, pc: u32, active: LaneMask) -> bool {
        let lane = active.first();
        let found = pieces.iter().find_map(|&at| {
            if self.block.shared_written.all(at as usize, PIECE as usize) {
                return None;
            }
            Some((at, self.copy_in_flight(at, PIECE, lane)?))
        });
        let Some((address, copy)) = found else { return false };
        let access = BadAccess::at(AccessKind::Read, MemSpace::Shared, address.into(), element);
        self.report_early_read(self.job.instr_at(pc), active, access, copy);
        true
    }

    /// Returns the first unwritten byte by row of A, or column of B. Unused rows may be so.
    fn unwritten_lines(&self, pieces: &[u32], transposed: bool) -> Vec<Option<u32>> {
        let written = &self.block.shared_written;
        let hole = |at: u32, n: u32| {
            let whole = written.all(at as usize, n as usize);
            let first = |byte: &u32| !written.all(*byte as usize, 1);
            (!whole).then(|| (at..at + n).find(first)).flatten()
        };
        if !transposed {
            return pieces.chunks(2).map(|row| row.iter().find_map(|&at| hole(at, PIECE))).collect();
        }
        let lines = pieces.chunks(16).flat_map(|group| (0..8).map(move |i| (group, i)));
        lines.map(|(group, i)| group.iter().find_map(|&at| hole(at + 2 * i, 2))).collect()
    }

    /// Returns whether copies of boxes wrote the pieces with the descriptor's swizzle.
    fn has_swizzle(&mut self, pieces: &[u32], swizzle: Swizzle, factor: usize, pc: u32, active: LaneMask) -> bool {
        let shared = self.shared_bytes_now();
        let other = pieces.iter().find_map(|&at| {
            let (copy, by) = self.block.bulk.swizzle_of(at, &shared.piece(at))?;
            (copy != swizzle).then_some((at, copy, by))
        });
        if let Some((address, copy, by)) = other {
            let problem = BadWgmma::Swizzle { factor: NAMES[factor], address, copy, by, descriptor: swizzle };
            self.report_wgmma(pc, active, problem);
        }
        other.is_none()
    }

    /// Records in the race checks that the running warp reads the pieces.
    fn touch_pieces(&mut self, pieces: &[u32], pc: u32) {
        let instr = self.job.instr_at(pc);
        let warp = self.warp.index;
        let mut sorted = pieces.to_vec();
        rules::sort(&mut sorted);
        sorted.dedup();
        for some in sorted.chunks(32) {
            self.access.serial += 1;
            let base = some[0];
            let mut runs: Vec<ByteRun> = Vec::new();
            let mut lanes = [0; 32];
            for (lane, &at) in lanes.iter_mut().zip(some) {
                *lane = (at - base) as i32;
                match runs.last_mut() {
                    Some(run) if run.start + run.bytes as i32 == *lane => run.bytes += PIECE,
                    _ => runs.push(ByteRun { start: *lane, bytes: PIECE }),
                }
            }
            let mask = LaneMask::from_bits(u32::MAX >> (32 - some.len()));
            let touch = Touch::of_lanes(AccessMark::Read, (instr, warp, mask), base.into(), &runs, self.access.serial);
            let touch = Touch { bytes: PIECE, lanes: &lanes, ..touch };
            if let Some(races) = &mut self.checks.shared_races {
                races.access(&touch, &mut self.block.collector);
            }
        }
    }

    /// Orders the running warp, which has waited, after the reads of its warpgroup's other warps for the products.
    pub(super) fn hand_over(&mut self, waits: u64) {
        let warp = self.warp.index;
        if let Some(clocks) = self.checks.clocks() {
            clocks.set_mbarrier_phase(HANDOVER + warp / WARPS, waits, Some(warp));
        }
    }

    /// Reports a factor in shared memory that has changed since the product was issued.
    pub(super) fn check_unchanged(&mut self, seen: &FactorBytes, factor: usize, pc: u32, active: LaneMask) {
        // A copy that came too late or too early was reported, and that changes its place.
        if self.block.mbarriers.misused {
            return;
        }
        let shared = self.shared_bytes_now();
        let changed = seen.iter().find(|(at, bytes)| shared.piece(*at) != *bytes);
        if let Some(&(address, _)) = changed {
            let problem = BadWgmma::Changed { factor: NAMES[factor], address, by: None };
            self.report_wgmma(pc, active, problem);
        }
    }

    /// Checks a product against the warp's past and the other warps' parts; returns whether one of these has its B.
    pub(super) fn check_order(&mut self, wgmma: &Wgmma, pc: u32, active: LaneMask, descriptors: [u64; 2]) -> bool {
        let warp = self.warp.index;
        let (group, own) = self.block.warpgroups.own(warp);
        if !std::mem::replace(&mut group.warps[own].fenced, true) {
            group.written[own].clear();
            self.report_wgmma(pc, active, BadWgmma::NoFence);
        }
        self.check_fence_behind_writes(wgmma, pc, active);
        let group = self.block.warpgroups.of(warp);
        let place = group.place(group.warps[own].issued);
        let parts = group.products.get(place).map_or(&[][..], |product| &product.parts);
        let others: Vec<&WarpPart> = parts.iter().flatten().filter(|part| part.pc == pc).collect();
        let same_b = others.iter().any(|part| part.descriptors[1] == descriptors[1]);
        let mut issued = others.into_iter().flat_map(|part| [0, 1].map(|factor| (factor, part.descriptors[factor])));
        let differs = issued.find(|(factor, descriptor)| descriptors[*factor] != *descriptor);
        if let Some((factor, descriptor)) = differs {
            let problem = BadWgmma::Differs { factor: NAMES[factor], warp, values: [descriptor, descriptors[factor]] };
            self.report_wgmma(pc, active, problem);
        }
        // Sums of a product in flight that this one takes as a factor.
        if let WgmmaA::Registers(a) = &wgmma.a
            && let Some((number, _)) = self.in_flight_of(|touched, _| a.contains(&(touched as i32)), false)
        {
            self.report_in_flight_use(number, pc, active, false, false);
        }
        same_b
    }

    /// Reports registers of the product that were written since the warp's last `wgmma.fence`.
    fn check_fence_behind_writes(&mut self, wgmma: &Wgmma, pc: u32, active: LaneMask) {
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        let written = &mut group.written[own];
        if written.is_empty() {
            return;
        }
        let of_a = match &wgmma.a {
            WgmmaA::Registers(a) => &a[..],
            WgmmaA::Shared(_) => &[],
        };
        let sums = wgmma.d.iter().map(|&line| (line, false));
        let mut all = of_a.iter().map(|&line| (line as u32, true)).chain(sums);
        let found = all.find_map(|(line, factor)| Some((*written.get(&line)?, factor)));
        // Further writes before the next fence are the same mistake.
        written.clear();
        if let Some((by, factor)) = found {
            self.report_wgmma(pc, active, BadWgmma::WrittenBehindFence { by, factor });
        }
    }

    /// Notes what the operation at `pc` writes of registers of products.
    pub(in crate::exec) fn note_written(&mut self, pc: u32) {
        let kernel = self.job.kernel;
        let all = kernel.in_flight.as_ref().and_then(|known| known.unfenced.as_ref());
        let Some(writes) = all.and_then(|all| all.get(pc as usize)).filter(|w| !w.is_empty()) else { return };
        let op = &kernel.ops[pc as usize];
        // A product checks the written registers itself, and its own sums do not count as written.
        if matches!(op.kind, OpKind::Wgmma(_)) {
            return;
        }
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        let written = &mut group.written[own];
        let by: Vec<Option<u32>> = writes
            .iter()
            .map(|one| match &one.from {
                Some(from) => from.iter().find_map(|line| written.get(line).copied()),
                None => Some(op.instr),
            })
            .collect();
        for (write, by) in writes.iter().zip(by) {
            match by {
                Some(by) => written.insert(write.line, by),
                None => written.remove(&write.line),
            };
        }
    }

    /// Returns the running warp's first pending product with a line of accumulators that satisfies `is`, and the line.
    fn in_flight_of(&mut self, is: impl Fn(u32, &WarpPart) -> bool, lost: bool) -> Option<(u64, u32)> {
        let kernel = self.job.kernel;
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        let WarpProgress { issued, waited, .. } = group.warps[own];
        (waited..issued).find_map(|number| {
            let part = group.products[group.place(number)].parts[own].as_ref()?;
            let OpKind::Wgmma(wgmma) = &kernel.ops[part.pc as usize].kind else { return None };
            let found = wgmma.d.iter().find(|line| is(**line, part) && (lost || !part.lost.contains(line)));
            found.map(|line| (number, *line))
        })
    }

    /// Reports the use of a register of a `wgmma` in flight, except by moves, which compilers add.
    pub(super) fn report_in_flight_use(&mut self, number: u64, pc: u32, active: LaneMask, writes: bool, factor: bool) {
        let kernel = self.job.kernel;
        let instr = self.job.instr_at(pc);
        if !writes && kernel.instrs[instr as usize].mnemonic().starts_with("mov") {
            return;
        }
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        let WarpProgress { committed, left, reported, issued, .. } = group.warps[own];
        if number < reported {
            return;
        }
        group.warps[own].reported = issued;
        let Some(part) = &group.products[group.place(number)].parts[own] else { return };
        let problem = BadWgmma::InFlight {
            product: self.job.instr_at(part.pc),
            writes,
            factor,
            behind: committed.checked_sub(part.group + 1),
            left,
        };
        self.report_wgmma(pc, active, problem);
    }

    /// Checks a bulk copy that starts to write what a product in flight reads. Returns whether that was reported: where
    /// its thread has waited for an arrival after the product, but not for the product. Otherwise it is a race.
    pub(in crate::exec) fn check_wgmma_reads(&mut self, copy: &BulkCopy) -> bool {
        let mut found = None;
        let mut in_order = self.checks.shared_races.is_none() || copy.block != self.block.index;
        let copier = copy.by.thread / 32;
        for (first, group) in (0..).step_by(WARPS as usize).zip(&self.block.warpgroups.groups) {
            let pending = group.products.iter().filter(|product| !product.complete);
            let parts = pending
                .flat_map(|product| product.parts.iter().enumerate())
                .filter_map(|(at, part)| Some((first + at as u32, part.as_ref()?)));
            for (warp, part) in parts {
                let pieces = [0, 1].into_iter().flat_map(|factor| part.seen[factor].iter().map(move |s| (factor, s.0)));
                for (factor, at) in pieces {
                    let near = u64::from(at) + u64::from(PIECE) > u64::from(copy.shared)
                        && u64::from(at) < u64::from(copy.shared) + copy.map.shared_bytes();
                    if !near || found.is_some() && in_order {
                        continue;
                    }
                    if copy.runs().into_iter().any(|run| run.shared < at + PIECE && at < run.shared + run.bytes) {
                        found = found.or(Some((part.pc, factor, at)));
                        let clocks = self.checks.shared_races.as_ref().and_then(|races| races.clocks.as_ref());
                        in_order |= clocks.is_none_or(|clocks| clocks.is_ordered_after_reads(at, PIECE, copier, warp));
                    }
                }
            }
        }
        let Some((pc, factor, address)) = found.filter(|_| in_order) else { return false };
        let problem = BadWgmma::Changed { factor: NAMES[factor], address, by: Some(copy.by) };
        self.report_wgmma(pc, LaneMask::of(copy.by.thread as usize % 32), problem);
        true
    }

    /// Reports a deadlock of the block if threads wait for warps of their warpgroup. Returns whether some do.
    pub(in crate::exec) fn stuck_warpgroup(&mut self) -> bool {
        let waits = |warp: &crate::exec::block::Warp| {
            let mut fibers = warp.fibers.iter();
            fibers.find(|f| f.state == FiberState::Warpgroup).map(|f| (f.wait_instr, f.lanes()))
        };
        let found = self.block.warps.iter().enumerate().find_map(|(at, warp)| Some((at, waits(warp)?)));
        let Some((warp, (_, lanes))) = found else { return false };
        let first = warp as u32 / WARPS * WARPS;
        let lives = self.lives(first);
        let (group, own) = self.block.warpgroups.own(warp as u32);
        // The product that is waited for: the oldest that a warp of the group lacks.
        let lacking =
            |product: &&PendingProduct| product.parts[own].is_some() && product.parts.iter().any(Option::is_none);
        let Some(product) = group.products.iter().find(lacking) else { return false };
        let mut warps = 0;
        let mut gone = 0;
        for (warp_in_group, (part, lives)) in product.parts.iter().zip(lives).enumerate() {
            if part.is_none() {
                warps |= 1 << warp_in_group;
                gone |= u8::from(!lives) << warp_in_group;
            }
        }
        let Some(part) = &product.parts[own] else { return false };
        let instr = self.job.instr_at(part.pc);
        let problem = BadWgmma::Missing { warps, gone };
        self.record_mistake_of(warp as u32, instr, lanes, MistakeDetails::Wgmma { problem });
        self.stopped = true;
        true
    }
}

/// The bits of a descriptor that are the leading dimension's offset.
const LEADING: u64 = 0x3fff << 16;

/// Returns whether one of two descriptors has a whole address, rank included, added to its leading dimension's offset.
fn is_off_by_rank(descriptor: u64, first: u64, rank: u32) -> bool {
    let rank = u64::from(rank) << RANK_SHIFT >> PIECE.ilog2();
    let [own, first] = [descriptor, first].map(|bits| bits & LEADING);
    own != first && (own == (first + rank) & LEADING || own == first | rank)
}

pub(super) const NAMES: [char; 2] = ['A', 'B'];
