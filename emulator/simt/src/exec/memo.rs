//! Cached address pattern and tallies of a memory instruction.
//!
//! A warp-wide access is a base (the first active lane's address) and a pattern (the other lanes' distances from
//! it). Loops repeat patterns, so all that follows from the pattern alone is worked out once: how far it reaches,
//! which stretches of bytes it covers, what it costs.

#[cfg(test)]
mod tests;

use crate::check::race::{ByteRun, Cells};
use crate::memory::rules::{self, Addresses, AtomicCost, SharedCost};
use crate::{lane_mask::LaneMask, memory::Allocation};
use arithmetic::lanes::Line;
use program::AtomicForm;

/// Layout of a pattern's lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Spread {
    /// Consecutive words, all 32 lanes.
    Linear,
    /// One address in all active lanes.
    Uniform,
    #[default]
    Gather,
}

/// Bytes of a word: the width of a bank.
const WORD: u64 = 4;

/// 64-bit words of a pattern's bitmap of cells.
const BITMAP_WORDS: usize = 8;

/// Declares the counts of one memory instruction.
macro_rules! tally {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counts of one memory instruction.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct Tally {
            $($(#[$doc])* pub(crate) $field: u64,)*
        }

        impl Tally {
            pub(crate) fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}
tally! {
    global_requests,
    global_lanes,
    sectors,
    l1_passes,
    shared_requests,
    shared_lanes,
    wavefronts,
    ideal,
    /// Requests after merging; for an atomic, the loads of its loop.
    merged_requests,
    merged_wavefronts,
    merged_ideal,
    /// Atomics on shared memory that are issued, each round of a loop included.
    atomics,
    local_requests,
    local_lanes,
    constant_requests,
}

impl Tally {
    /// Counts an access to global memory, by the rules.
    pub(crate) fn count_global(&mut self, addresses: &Addresses, bytes: u32, atomic: Option<AtomicForm>) {
        self.global_requests += 1;
        self.global_lanes += addresses.iter().flatten().count() as u64;
        self.sectors += u64::from(sectors(addresses, bytes, atomic));
        if atomic.is_none() {
            self.l1_passes += u64::from(rules::l1_passes(addresses, bytes));
        }
    }

    /// Counts an atomic on shared memory.
    pub(crate) fn count_atomic(&mut self, atomic: &AtomicCost, n_lanes: u32) {
        self.shared_requests += 1;
        self.shared_lanes += u64::from(n_lanes);
        self.atomics += u64::from(atomic.requests);
        self.wavefronts += u64::from(atomic.cost.wavefronts);
        self.ideal += u64::from(atomic.cost.ideal);
        if atomic.loads != SharedCost::default() {
            self.merged_requests += u64::from(atomic.requests);
            self.merged_wavefronts += u64::from(atomic.loads.wavefronts);
            self.merged_ideal += u64::from(atomic.loads.ideal);
        }
    }
}

fn sectors(addresses: &Addresses, bytes: u32, atomic: Option<AtomicForm>) -> u32 {
    match atomic {
        None => rules::sectors(addresses, bytes),
        Some(AtomicForm::OncePerWarp) => 1,
        Some(_) => rules::atomic_sectors(addresses, bytes),
    }
}

/// Memory space that decides which counters an access adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Home {
    #[default]
    Nowhere,
    Global,
    Shared,
    Local,
    Param,
}

/// Role of a shared access in merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Merge {
    #[default]
    Alone,
    /// The access stands for its group: `bytes` of the merged access, which starts `back` bytes before this address.
    Leads { bytes: u8, back: u8 },
    /// Another access stands for this one.
    Follows,
}

/// Cached address pattern and tallies of one memory instruction.
///
/// [`Memo::learn`] replaces the pattern (`delta` to `serial`, `runs`, `bitmap`) and discards the costs that follow from
/// it, which are computed when the first access with that pattern is counted. A cost of 0 is one that has not been
/// computed: every access takes a sector, a wavefront and a word. The memory of the last access (`from` to
/// `allocation`) is cached independently of the pattern; `len` is 0 where none is known.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Memo<'j> {
    /// Distance of each active lane's address from the first active lane's. Inactive lanes hold stale values.
    pub(crate) delta: [i32; 32],
    /// All bits for each active lane, none for the others; set where lanes are inactive.
    kept: [i32; 32],
    /// Active lanes; 0 while no pattern is learnt.
    pub(crate) mask: LaneMask,
    /// The lowest active lane.
    pub(crate) first: u32,
    /// The lowest distance in `delta`.
    pub(crate) low: i64,
    /// Bytes from the lowest address to the end of the highest access.
    pub(crate) span: u64,
    /// Bitwise or of all distances, whose trailing zeros are their common alignment.
    pub(crate) align: u64,
    pub(crate) spread: Spread,
    /// Layout of lanes 0 to 15 and 16 to 31, when all are active: blocks 16 wide have two rows in a warp.
    pub(crate) halves: [Spread; 2],
    /// Whether two lanes access the same byte.
    pub(crate) overlapping: bool,
    /// As [`Touch::distinct`](crate::check::race::Touch::distinct).
    pub(crate) distinct: LaneMask,
    /// Number of the pattern: [`Memo::learn`] sets another one each time.
    pub(crate) serial: u64,
    /// First address of the memory that the last access lay in.
    pub(crate) from: u64,
    /// Bytes of that memory.
    pub(crate) len: u64,
    /// Start of that memory in this process, minus `from`: adding an address gives the pointer to it.
    pub(crate) host: *mut u8,
    /// Memory space of the last access.
    pub(crate) home: Home,
    /// Allocation of the last access, when it was to global memory.
    pub(crate) allocation: Option<&'j Allocation>,
    /// Bytes per lane.
    pub(crate) bytes: u32,
    pub(crate) direction: rules::Direction,
    pub(crate) merge: Merge,
    /// Implementation that ptxas chooses for an atomic; `None` for loads and stores.
    pub(crate) atomic: Option<AtomicForm>,
    /// Costs of an atomic on shared memory, by the half of a word that the base lies in; 0 requests: not computed.
    atomic_costs: [AtomicCost; 2],
    /// Sectors, by the base's offset in its sector.
    sectors: [u8; 32],
    /// Wavefronts, by the base's offset in its word.
    wavefronts: [u8; 4],
    /// Distinct words in the fullest data bank of L1, the same for every base.
    l1_words: u8,
    /// Words in all banks, computed with `l1_words`.
    n_words: u8,
    /// Passes over L1, as computed last: for the bases that the next three fields describe.
    l1_passes: u8,
    /// Offset in a line: `l1_passes` holds for every base at this offset; `u64::MAX` for none.
    l1_at: u64,
    /// First of the `l1_len` consecutive bases for which `l1_passes` holds, too.
    l1_from: u64,
    /// Number of these bases.
    l1_len: u64,
    /// The fewest wavefronts that the access could take, computed with `wavefronts`.
    ideal: u8,
    /// Wavefronts, and the fewest possible, of the merged access that this one leads; computed with `wavefronts`.
    merged: [u8; 2],
    /// Valid elements of `runs`.
    n_runs: u8,
    /// Disjoint stretches of bytes that the pattern covers, in rising order.
    runs: [ByteRun; 32],
    /// Cells that the runs cover, from the start of the first run: one bit each.
    bitmap: [u64; BITMAP_WORDS],
    /// Valid 64-bit words of `bitmap`; 0 where the pattern does not fit, and the runs alone describe it.
    n_bitmap_words: u8,
    /// Binary logarithm of a cell's bytes; fixed when the memo is made.
    pub(crate) cell_shift: u32,
    /// In local memory: distance from the first active lane's word to each lane's own.
    pub(crate) local: [i32; 32],
    pub(crate) tally: Tally,
}

impl Memo<'_> {
    pub(crate) fn new(bytes: u32, direction: rules::Direction, merge: Merge) -> Self {
        Self { bytes, direction, merge, l1_at: u64::MAX, cell_shift: 2, ..Self::default() }
    }

    /// Forgets the memory of the last access: the shared memory of the next block lies elsewhere.
    pub(crate) fn forget_place(&mut self) {
        self.len = 0;
        self.from = u64::MAX;
        self.home = Home::Nowhere;
    }

    /// Returns the first active lane's value in an address register, if the lanes' values repeat the pattern.
    ///
    /// # Safety
    /// `register` is one line, or two when `wide`.
    #[inline(always)]
    pub(crate) unsafe fn repeats(&self, register: *const Line, wide: bool, active: LaneMask) -> Option<u64> {
        if self.mask != active {
            return None;
        }
        // Lanes that are not active are left out by `kept`, not by bits of `active`: masks made of these would be
        // prepared for every operation.
        // SAFETY: the caller vouches for the register; `first` is below 32.
        unsafe {
            if wide {
                let r = &*register.cast::<[u64; 32]>();
                let first = r[self.first as usize & 31];
                let mut different = 0;
                if active.is_all() {
                    for (value, delta) in r.iter().zip(&self.delta) {
                        different |= value ^ first.wrapping_add(i64::from(*delta) as u64);
                    }
                } else {
                    for (lane, (value, delta)) in r.iter().zip(&self.delta).enumerate() {
                        let kept = i64::from(self.kept[lane]) as u64;
                        different |= (value ^ first.wrapping_add(i64::from(*delta) as u64)) & kept;
                    }
                }
                (different == 0).then_some(first)
            } else {
                let r = &(*register).0;
                let first = r[self.first as usize & 31];
                let mut different = 0;
                if active.is_all() {
                    for (value, delta) in r.iter().zip(&self.delta) {
                        different |= value ^ first.wrapping_add(*delta as u32);
                    }
                } else {
                    for (lane, (value, delta)) in r.iter().zip(&self.delta).enumerate() {
                        different |= (value ^ first.wrapping_add(*delta as u32)) & self.kept[lane] as u32;
                    }
                }
                (different == 0).then_some(first.into())
            }
        }
    }

    /// Learns the pattern of the `active` lanes (not none). Returns whether they lie close enough together to be one.
    #[inline(never)]
    pub(crate) fn learn(&mut self, addresses: &[u64; 32], active: LaneMask, serial: u64, with_runs: bool) -> bool {
        let first = active.first() & 31;
        let base = addresses[first];
        self.mask = LaneMask::EMPTY;
        let (mut low, mut high, mut align) = (0i64, 0i64, 0);
        for lane in active.iter() {
            let distance = addresses[lane].wrapping_sub(base) as i64;
            let Ok(delta) = i32::try_from(distance) else { return false };
            self.delta[lane] = delta;
            low = low.min(distance);
            high = high.max(distance);
            align |= distance as u64;
        }
        if high - low > i64::from(i32::MAX) - 64 {
            return false;
        }
        let step = self.bytes as i32;
        let spread = |lanes: &[i32]| {
            let linear = lanes.iter().enumerate().all(|(i, d)| *d == lanes[0].wrapping_add(i as i32 * step));
            if linear {
                Spread::Linear
            } else if lanes.iter().all(|d| *d == lanes[0]) {
                Spread::Uniform
            } else {
                Spread::Gather
            }
        };
        if active.is_all() {
            self.spread = spread(&self.delta);
            self.halves = [spread(&self.delta[..16]), spread(&self.delta[16..])];
        } else {
            self.spread = if align == 0 { Spread::Uniform } else { Spread::Gather };
            self.kept = std::array::from_fn(|lane| -i32::from(active.contains(lane)));
        }
        self.mask = active;
        self.first = first as u32;
        self.low = low;
        self.span = (high - low) as u64 + u64::from(self.bytes);
        self.align = align;
        self.serial = serial;
        self.sectors = [0; 32];
        self.wavefronts = [0; 4];
        (self.l1_words, self.l1_at, self.l1_len) = (0, u64::MAX, 0);
        self.atomic_costs = [AtomicCost::default(); 2];
        self.n_runs = 0;
        if self.home == Home::Local {
            self.forget_place();
        }
        if with_runs {
            self.find_runs();
        }
        true
    }

    pub(crate) fn runs(&self) -> &[ByteRun] {
        &self.runs[..usize::from(self.n_runs) & 63]
    }

    #[inline(always)]
    pub(crate) fn cells(&self) -> Cells<'_> {
        Cells { bits: &self.bitmap[..usize::from(self.n_bitmap_words) & 15], shift: self.cell_shift }
    }

    fn find_bitmap(&mut self) {
        let shift = self.cell_shift;
        let n_bitmap_words = (self.span >> shift).div_ceil(64) as usize;
        // Accesses that are narrower than a cell, or not in step with cells, are described by their runs.
        if n_bitmap_words > BITMAP_WORDS || self.bytes >> shift == 0 || self.align & ((1 << shift) - 1) != 0 {
            self.n_bitmap_words = 0;
            return;
        }
        self.bitmap = [0; BITMAP_WORDS];
        let first = i64::from(self.runs[0].start);
        for run in &self.runs[..usize::from(self.n_runs)] {
            let start = (i64::from(run.start) - first) as usize >> shift;
            for cell in start..start + (run.bytes as usize >> shift) {
                self.bitmap[cell / 64] |= 1 << (cell % 64);
            }
        }
        self.n_bitmap_words = n_bitmap_words as u8;
    }

    fn find_runs(&mut self) {
        let mut starts = [0i32; 32];
        let mut n = 0;
        for lane in self.mask.iter() {
            starts[n] = self.delta[lane];
            n += 1;
        }
        let starts = &mut starts[..n];
        if !starts.is_sorted() {
            rules::sort(starts);
        }
        let mut n_runs = 0;
        let mut overlapping = false;
        for &start in starts.iter() {
            if n_runs > 0 {
                let last = &mut self.runs[n_runs - 1];
                let end = i64::from(last.start) + i64::from(last.bytes);
                overlapping |= i64::from(start) < end;
                if i64::from(start) <= end {
                    last.bytes = last.bytes.max((i64::from(start) - i64::from(last.start)) as u32 + self.bytes);
                    continue;
                }
            }
            self.runs[n_runs] = ByteRun { start, bytes: self.bytes };
            n_runs += 1;
        }
        self.n_runs = n_runs as u8;
        self.overlapping = overlapping;
        self.distinct = self.mask;
        if overlapping {
            let mut before = None;
            self.distinct = self.mask.filter(|lane| before.replace(self.delta[lane]) != Some(self.delta[lane]));
        }
        self.find_bitmap();
    }

    fn addresses(&self, base: u64) -> Addresses {
        // The high bit keeps addresses with negative distances positive; the costs depend on the low bits only.
        let base = (1 << 40) + base % 4096;
        std::array::from_fn(|lane| {
            self.mask.contains(lane).then(|| base.wrapping_add(i64::from(self.delta[lane]) as u64))
        })
    }

    #[inline(always)]
    pub(crate) fn count_global(&mut self, base: u64) {
        let mut n = self.sectors[base as usize & 31];
        if n == 0 {
            n = self.find_sectors(base);
        }
        self.tally.global_requests += 1;
        self.tally.global_lanes += u64::from(self.mask.count());
        self.tally.sectors += u64::from(n);
        self.tally.l1_passes += u64::from(self.l1_passes(base));
    }

    #[inline(always)]
    fn l1_passes(&mut self, base: u64) -> u8 {
        if base % rules::LINE != self.l1_at && base.wrapping_sub(self.l1_from) >= self.l1_len {
            self.find_l1_passes(base);
        }
        self.l1_passes
    }

    /// Returns whether all words stay in step with the banks of data, wherever the base is.
    fn whole_words(&self, base: u64) -> bool {
        matches!(self.bytes, 4 | 8 | 16) && (base | self.align) & 3 == 0
    }

    /// Computes the passes over L1 of a base, and the other bases for which they are the same.
    #[inline(never)]
    fn find_l1_passes(&mut self, base: u64) {
        if self.atomic.is_some() {
            (self.l1_passes, self.l1_from, self.l1_len) = (0, 0, u64::MAX);
            return;
        }
        if self.l1_words == 0 || !self.whole_words(base) {
            return self.count_lines(base);
        }
        let touched = rules::lines(base.wrapping_add(self.low as u64), self.span as u32);
        let (first, last) = (*touched.start(), *touched.end());
        (self.l1_at, self.l1_from, self.l1_len) = (u64::MAX, base, 1);
        if last - first < u64::from(self.l1_words) {
            (self.l1_passes, self.l1_at) = (self.l1_words, base % rules::LINE);
        } else if last - first == 1 {
            let same_bank = rules::tag_bank(first) == rules::tag_bank(last);
            self.l1_passes = self.l1_words.max(1 + u8::from(same_bank));
        } else {
            self.count_lines(base);
        }
    }

    /// Computes the costs of a base on global memory, and the other bases for which they are the same.
    #[cold]
    #[inline(never)]
    fn count_lines(&mut self, base: u64) {
        let addresses = self.mask.iter().map(|lane| base.wrapping_add(i64::from(self.delta[lane]) as u64));
        let lines = rules::Lines::of(addresses, self.bytes);
        self.sectors[base as usize & 31] = lines.n_sectors() as u8;
        (self.l1_words, self.n_words) = (lines.most_in_a_data_bank() as u8, lines.n_words() as u8);
        self.l1_passes = self.l1_words.max(lines.most_in_a_tag_bank() as u8);
        if !self.whole_words(base) {
            (self.l1_at, self.l1_from, self.l1_len) = (u64::MAX, base, 1);
            self.l1_words = 0;
        } else if self.n_words <= self.l1_words {
            // Not more lines than words: the banks of tags never decide.
            (self.l1_at, self.l1_from, self.l1_len) = (u64::MAX, 0, u64::MAX);
        } else {
            // Where there are no more lines than passes over the words, all bases at this offset in a line have the
            // same passes. Otherwise those that access the same lines have.
            self.l1_at = if lines.len() <= usize::from(self.l1_words) { base % rules::LINE } else { u64::MAX };
            let words = lines.all_words();
            self.l1_from = base.wrapping_sub(WORD * u64::from(words.trailing_zeros()));
            self.l1_len = WORD * u64::from(1 + words.trailing_zeros() + words.leading_zeros());
        }
    }

    #[cold]
    fn find_sectors(&mut self, base: u64) -> u8 {
        if self.atomic.is_none() {
            self.count_lines(base);
        } else {
            self.sectors[base as usize & 31] = sectors(&self.addresses(base), self.bytes, self.atomic) as u8;
        }
        self.sectors[base as usize & 31]
    }

    #[inline(always)]
    pub(crate) fn count_shared(&mut self, base: u64) {
        if let Some(form) = self.atomic {
            return self.count_shared_atomic(base, form);
        }
        if self.wavefronts[base as usize & 3] == 0 {
            self.find_wavefronts(base);
        }
        let n = u64::from(self.wavefronts[base as usize & 3]);
        let ideal = u64::from(self.ideal);
        let tally = &mut self.tally;
        tally.shared_requests += 1;
        tally.shared_lanes += u64::from(self.mask.count());
        tally.wavefronts += n;
        tally.ideal += ideal;
        match self.merge {
            Merge::Alone => {
                tally.merged_requests += 1;
                tally.merged_wavefronts += n;
                tally.merged_ideal += ideal;
            }
            Merge::Leads { .. } => {
                tally.merged_requests += 1;
                tally.merged_wavefronts += u64::from(self.merged[0]);
                tally.merged_ideal += u64::from(self.merged[1]);
            }
            Merge::Follows => {}
        }
    }

    #[inline(never)]
    fn count_shared_atomic(&mut self, base: u64, form: AtomicForm) {
        let half = base as usize >> 1 & 1;
        if self.atomic_costs[half].requests == 0 {
            self.atomic_costs[half] = rules::shared_atomic_cost(&self.addresses(base), self.bytes, form);
        }
        let cost = self.atomic_costs[half];
        self.tally.count_atomic(&cost, self.mask.count());
    }

    #[cold]
    fn find_wavefronts(&mut self, base: u64) {
        let cost = rules::shared_cost(&self.addresses(base), self.bytes, self.direction);
        self.wavefronts[base as usize & 3] = cost.wavefronts.min(255) as u8;
        self.ideal = cost.ideal as u8;
        if let Merge::Leads { bytes, back } = self.merge {
            let start = base.wrapping_sub(u64::from(back));
            let merged = rules::shared_cost(&self.addresses(start), u32::from(bytes), self.direction);
            self.merged = [merged.wavefronts.min(255) as u8, merged.ideal as u8];
        }
    }
}
