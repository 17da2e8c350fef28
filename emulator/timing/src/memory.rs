//! Global memory of one SM, after its wavefronts: L1, the paths to L2 and device memory, and waiting accesses.

use crate::bound::{Busy, Resource};
use crate::cache::{Cache, Local};
use crate::trace::{AccessOrigin, LINE, SECTOR, is_local};
use crate::{chip::Chip, reach::Reach};

/// Clocks of stores that may be on their way to L2.
const STORES_AHEAD: f64 = 256.0;
pub(crate) const LINE_BYTES: u32 = (LINE * SECTOR) as u32;
/// Sectors that device memory delivers together.
const PAIR: u64 = 2;
const SECTOR_BYTES: f64 = SECTOR as f64;

/// State that all accesses of one SM share.
pub(crate) struct Memory<'a> {
    chip: &'a Chip,
    reach: &'a Reach,
    /// Part of the GPU's SMs that have work.
    pub(crate) active: f64,
    /// Blocks of these SMs on average, as a part of this one's.
    load: f64,
    cache: Cache,
    local: Local,
    /// Times until which each path is busy.
    l2: f64,
    stores: f64,
    dram: f64,
}

impl<'a> Memory<'a> {
    /// Creates empty caches for an SM that runs `warps` at a time. `shared` bytes of it are shared memory.
    pub(crate) fn new(chip: &'a Chip, reach: &'a Reach, active: f64, load: f64, shared: u64, warps: usize) -> Self {
        Self {
            chip,
            reach,
            active,
            load,
            cache: Cache::new(chip.l1_bytes.saturating_sub(shared)),
            local: Local::new(l1_beside(chip, shared), warps),
            l2: 0.0,
            stores: 0.0,
            dram: 0.0,
        }
    }

    /// Loads sectors, and returns when the last of them is present: in L1 if they stay there.
    pub(crate) fn fetch(
        &mut self, sectors: &[u64], origin: AccessOrigin, now: u64, stays: bool, busy: &mut Busy,
    ) -> u64 {
        if !stays {
            return self.fetch_past_l1(self.active, 1, sectors, origin, now, busy);
        }
        let mut arrival = now;
        let mut missing = Vec::new();
        for &sector in sectors {
            match if is_local(sector) { self.local.find(sector) } else { self.cache.find(sector) } {
                Some(when) => arrival = arrival.max(when),
                None => missing.push(sector),
            }
        }
        let when = self.fetch_past_l1(self.active, 1, &missing, origin, now, busy);
        for &sector in &missing {
            if is_local(sector) { self.local.fill(sector, when) } else { self.cache.fill(sector, when) }
        }
        arrival.max(when)
    }

    /// Loads sectors past L1, while a part `active` of the GPU's SMs loads, and the SM gets as much from each of
    /// `n_blocks` of them. Returns when the last sector is there.
    pub(crate) fn fetch_past_l1(
        &mut self, active: f64, n_blocks: u16, sectors: &[u64], origin: AccessOrigin, now: u64, busy: &mut Busy,
    ) -> u64 {
        if sectors.is_empty() {
            return now;
        }
        let chip = self.chip;
        let share = self.reach.share(origin.instruction);
        for n in lines(sectors) {
            // After the first SM, a line that many SMs read is near to all of them.
            let own = line(n, chip.l2_sectors, chip.l2_bytes_own);
            let near = line(n, chip.l2_sectors, chip.l2_bytes);
            let alone = f64::from(n_blocks) * SECTOR_BYTES * n as f64 / chip.l2_bytes_alone;
            let clocks = ((near + (own - near) * share) * active).max(alone);
            self.l2 = self.l2.max(now as f64) + clocks;
            busy[Resource::L2 as usize] += clocks;
        }
        let mut when = self.l2 + chip.l2_latency as f64;
        if self.reach.is_fresh(origin) {
            let n_pairs = groups(sectors, PAIR).count() as u64;
            let bytes = SECTOR_BYTES * (n_pairs * PAIR) as f64;
            self.load_dram(bytes * share, now, busy);
            let apart = self.reach.apart(origin.instruction);
            let more = chip.dram_latency_apart as f64 - chip.dram_latency as f64;
            let latency = (chip.l2_latency + chip.dram_latency) as f64 + apart * more;
            when = when.max(self.dram + latency);
        }
        when as u64
    }

    /// Occupies the path to L2 for bytes of boxes outside of the matrix, of which a part `active` of the GPU's SMs
    /// copies as many. They arrive with what lies inside.
    pub(crate) fn fill(&mut self, active: f64, bytes: u32, now: u64, busy: &mut Busy) {
        let clocks = f64::from(bytes) * active / self.chip.outside_bytes;
        if clocks > 0.0 {
            self.l2 = self.l2.max(now as f64) + clocks;
            busy[Resource::L2 as usize] += clocks;
        }
    }

    /// Sends sectors to L2, while a part `active` of the GPU's SMs does, and returns when they have left. Those of
    /// local memory stay in L1 too.
    ///
    /// The costs of lines of which one sector is stored are those of a part of it. Whole sectors, as products of
    /// warpgroups leave them, cost their bytes, as kernels of v12 show: with C in FP32, and with C in bf16, of which an
    /// instruction stores halves of sectors.
    pub(crate) fn store(
        &mut self, active: f64, sectors: &[u64], is_whole: bool, origin: AccessOrigin, now: u64, busy: &mut Busy,
    ) -> u64 {
        let chip = self.chip;
        for &sector in sectors.iter().filter(|&&sector| is_local(sector)) {
            if self.local.find(sector).is_none() {
                self.local.fill(sector, now);
            }
        }
        let (bytes, load, resource) = match sectors.first() {
            Some(&sector) if is_local(sector) => (chip.store_bytes_local, self.load, Resource::LocalStores),
            _ => (chip.store_bytes, 1.0, Resource::L2),
        };
        for n in lines(sectors) {
            let clocks = |lines_of_one: f64, bytes: f64| match is_whole {
                true => SECTOR_BYTES * n as f64 / bytes,
                false => line(n, lines_of_one, bytes),
            };
            let all = clocks(chip.store_sectors, bytes) * active;
            let alone = clocks(chip.store_sectors_alone, chip.store_bytes_alone);
            self.stores = self.stores.max(now as f64) + (all * load).max(alone);
            busy[resource as usize] += all.max(alone);
        }
        if self.reach.is_fresh(origin) {
            // The store goes to device memory later; its share of the bandwidth is taken now.
            let bytes = SECTOR_BYTES * sectors.len() as f64 * self.reach.share(origin.instruction);
            self.load_dram(bytes, now, busy);
            self.stores = self.stores.max(self.dram);
        }
        self.stores as u64
    }

    /// Occupies the path to device memory.
    fn load_dram(&mut self, bytes: f64, now: u64, busy: &mut Busy) {
        let clocks = bytes * self.active * f64::from(self.chip.sms) / self.chip.dram_bytes;
        self.dram = self.dram.max(now as f64) + clocks;
        busy[Resource::Dram as usize] += clocks;
    }

    /// Returns the time at which one more store fits.
    pub(crate) fn takes_store(&self) -> u64 {
        (self.stores - STORES_AHEAD).max(0.0) as u64
    }
}

/// Returns the bytes of L1 that are left where so much shared memory is needed, which comes in a few sizes.
pub(crate) fn l1_beside(chip: &Chip, shared: u64) -> u64 {
    const KIB: [u64; 10] = [0, 8, 16, 32, 64, 100, 132, 164, 196, 228];
    let carved_out = KIB.map(|size| size << 10).into_iter().find(|&size| size >= shared).unwrap_or(shared);
    chip.l1_bytes.saturating_sub(carved_out)
}

/// Returns the clocks for `n` sectors of a line, interpolated between the costs of one and of four.
fn line(n: usize, lines_of_one: f64, bytes: f64) -> f64 {
    let one = 1.0 / lines_of_one;
    let four = SECTOR_BYTES * LINE as f64 / bytes;
    one + (four - one).max(0.0) * (n as f64 - 1.0) / (LINE as f64 - 1.0)
}

/// Counts the sectors in each line.
pub(crate) fn lines(sectors: &[u64]) -> impl Iterator<Item = usize> {
    groups(sectors, LINE)
}

/// Counts the sectors in each line, or each pair.
fn groups(sectors: &[u64], size: u64) -> impl Iterator<Item = usize> {
    sectors.chunk_by(move |a, b| a / size == b / size).map(<[u64]>::len)
}
