//! Counters of the memory system for a warp-wide access: the rules, plainly.
//!
//! Measured on an H200; `tests/data/h200_memory_patterns.csv` holds what the hardware reported for 130 patterns,
//! and these functions give the same numbers. Fast paths elsewhere must agree with them.

#[cfg(test)]
mod tests;

use program::AtomicForm;

/// Byte addresses of the 32 lanes; `None` for an inactive lane.
pub type Addresses = [Option<u64>; 32];

/// Cost of a warp-wide access to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedCost {
    /// Passes over the banks.
    pub wavefronts: u32,
    /// The fewest that an access of this shape could take.
    pub ideal: u32,
}

/// Returns the number of distinct 32-byte sectors touched by one warp-wide access of `bytes` per lane.
pub fn sectors(addresses: &Addresses, bytes: u32) -> u32 {
    Lines::of(addresses.iter().flatten().copied(), bytes).n_sectors()
}

/// Bytes of a line of L1.
pub(crate) const LINE: u64 = 128;

/// Value that each set bit of a line's number contributes, by exclusive or, to the number of the bank that holds the
/// line's tag. Found from `emulator/timing/tests/data/h200-l1-patterns.txt`, which determines the first 11.
const TAG_BITS: [u8; 17] = [1, 2, 1, 2, 3, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 2];

/// Sums of [`TAG_BITS`] for the lower nine bits of a line's number, and for the eight above.
const TAG_BANKS: [[u8; 512]; 2] = {
    let mut banks = [[0; 512]; 2];
    let mut i = 0;
    while i < TAG_BITS.len() {
        let mut bits = 0;
        while bits < 512 {
            banks[i / 9][bits] ^= TAG_BITS[i] * (bits >> (i % 9) & 1) as u8;
            bits += 1;
        }
        i += 1;
    }
    banks
};

pub(crate) fn tag_bank(line: u64) -> usize {
    // Bits at a distance of 17 contribute the same.
    let line = (line ^ line >> 17 ^ line >> 34 ^ line >> 51) as usize;
    usize::from(TAG_BANKS[0][line % 512] ^ TAG_BANKS[1][line >> 9 & 255])
}

/// Returns the number of lines of L1 that a lane touches.
pub(crate) fn lines(address: u64, bytes: u32) -> std::ops::RangeInclusive<u64> {
    address / LINE..=address.saturating_add(u64::from(bytes.max(1)) - 1) / LINE
}

/// Sorts by code of this crate. `sort_unstable` of a plain type may be linked from a crate that is built without
/// optimisation, because the standard library's part that is never inlined exists once for each type and comparison.
#[expect(clippy::unnecessary_sort_by, reason = "the closure makes the type of the comparison this crate's own")]
pub(crate) fn sort<T: Ord>(values: &mut [T]) {
    values.sort_unstable_by(|a, b| a.cmp(b));
}

/// Lines of L1 that some lanes touch, each with its words: a bit each.
pub(crate) struct Lines(Vec<Line>);

struct Line {
    number: u64,
    words: u32,
    /// Index of an earlier line whose number has the same last bits.
    next: u32,
}

impl Lines {
    pub(crate) fn of(addresses: impl Iterator<Item = u64>, bytes: u32) -> Self {
        const END: u32 = u32::MAX;
        let mut lines: Vec<Line> = Vec::with_capacity(64);
        let mut heads = [END; 32];
        let last_byte = u64::from(bytes.max(1)) - 1;
        for address in addresses {
            let (mut word, last) = (address / 4, address.saturating_add(last_byte) / 4);
            while word <= last {
                let (number, end) = (word / 32, last.min(word | 31));
                let words = u32::MAX << (word % 32) & u32::MAX >> (31 - end % 32);
                word = end + 1;
                let head = &mut heads[(number % 32) as usize];
                let mut at = *head;
                while let Some(line) = lines.get(at as usize).filter(|line| line.number != number) {
                    at = line.next;
                }
                match lines.get_mut(at as usize) {
                    Some(line) => line.words |= words,
                    None => {
                        lines.push(Line { number, words, next: *head });
                        *head = lines.len() as u32 - 1;
                    }
                }
            }
        }
        Self(lines)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn n_words(&self) -> u32 {
        self.0.iter().map(|line| line.words.count_ones()).sum()
    }

    /// Places in a line at which some line has a word.
    pub(crate) fn all_words(&self) -> u32 {
        self.0.iter().fold(0, |all, line| all | line.words)
    }

    pub(crate) fn n_sectors(&self) -> u32 {
        // The lowest bit of each byte: has the byte a bit?
        let low = |bits: u32| [4, 2, 1].into_iter().fold(bits, |bits, by| bits | bits >> by) & 0x0101_0101;
        self.0.iter().map(|line| low(line.words).wrapping_mul(0x0101_0101) >> 24).sum()
    }

    /// Returns the largest number of lines in one of the four banks of tags.
    pub(crate) fn most_in_a_tag_bank(&self) -> u32 {
        let mut counts = [0; 4];
        self.0.iter().for_each(|line| counts[tag_bank(line.number)] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    /// Returns the largest number of words in one of the 32 banks of data.
    pub(crate) fn most_in_a_data_bank(&self) -> u32 {
        // Counts of all banks, side by side: `digits[i]` has the binary digit `i` of each.
        let mut digits = [0u32; 8];
        debug_assert!(self.len() < 1 << digits.len());
        for line in &self.0 {
            let mut carry = line.words;
            for digit in &mut digits {
                (*digit, carry) = (*digit ^ carry, *digit & carry);
                if carry == 0 {
                    break;
                }
            }
        }
        // The banks that have all the digits of the largest count so far.
        let mut largest = u32::MAX;
        let mut count = 0;
        for digit in digits.into_iter().rev() {
            let banks = largest & digit;
            count = 2 * count + u32::from(banks != 0);
            largest = if banks == 0 { largest } else { banks };
        }
        count
    }
}

/// Passes over L1 of one warp-wide access of `bytes` per lane: each looks up one line in each of four banks of tags,
/// and reads one word from each of 32 banks of data, so the fullest bank decides. Timed: Nsight Compute has no metric
/// of it.
pub fn l1_passes(addresses: &Addresses, bytes: u32) -> u32 {
    let lines = Lines::of(addresses.iter().flatten().copied(), bytes);
    lines.most_in_a_tag_bank().max(lines.most_in_a_data_bank())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Load,
    /// Also of an atomic.
    Store,
}

impl Direction {
    pub fn is_load(self) -> bool {
        self == Self::Load
    }
}

/// Returns the number of lanes that one pass over the banks serves: the warp for 4 bytes per lane, half of it for 8, a
/// quarter for 16. Twice as many for a load in pairs (each lane has the address of lane `i ^ 1`, or each of `i ^ 2`).
pub fn lanes_together(addresses: &Addresses, bytes: u32, direction: Direction) -> usize {
    let plain = match bytes {
        0..=4 => return 32,
        5..=8 => 16,
        9..=16 => 8,
        _ => 4,
    };
    let pairs_up = |distance: usize| {
        (0..32).all(|i| match (addresses[i], addresses[i ^ distance]) {
            (Some(mine), Some(other)) => mine == other,
            // An inactive partner does not prevent pairs.
            _ => true,
        })
    };
    if direction.is_load() && (pairs_up(1) || pairs_up(2)) { 2 * plain } else { plain }
}

/// Returns the lanes that one pass could serve: as [`lanes_together`], but lanes without a partner are not pairs.
fn lanes_at_best(addresses: &Addresses, bytes: u32, direction: Direction) -> usize {
    let together = lanes_together(addresses, bytes, direction);
    let plain = lanes_together(addresses, bytes, Direction::Store);
    let paired = |distance: usize| (0..32).any(|i| addresses[i].is_some() && addresses[i] == addresses[i ^ distance]);
    if paired(1) || paired(2) { together } else { plain }
}

/// Returns the cost of one warp-wide shared access of `bytes` per lane.
pub fn shared_cost(addresses: &Addresses, bytes: u32, direction: Direction) -> SharedCost {
    let mut cost = SharedCost::default();
    for part in addresses.chunks(lanes_together(addresses, bytes, direction)) {
        // The same word twice is a broadcast.
        cost.wavefronts += Lines::of(part.iter().flatten().copied(), bytes).most_in_a_data_bank();
    }
    let active = addresses.iter().flatten().count();
    cost.ideal = active.div_ceil(lanes_at_best(addresses, bytes, direction)) as u32;
    cost
}

/// Returns the sectors of a global atomic: each is accessed once for each lane on its busiest element.
pub fn atomic_sectors(addresses: &Addresses, bytes: u32) -> u32 {
    let mut elements: Vec<u64> = addresses.iter().flatten().copied().collect();
    sort(&mut elements);
    let bytes = u64::from(bytes.max(1));
    let mut passes: Vec<(u64, u32)> = Vec::new();
    for lanes in elements.chunk_by(|a, b| a == b) {
        for sector in lanes[0] / 32..=lanes[0].saturating_add(bytes - 1) / 32 {
            match passes.last_mut() {
                Some((known, most)) if *known == sector => *most = (*most).max(lanes.len() as u32),
                _ => passes.push((sector, lanes.len() as u32)),
            }
        }
    }
    passes.iter().map(|(_, passes)| passes).sum()
}

/// Cost of an atomic on shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AtomicCost {
    /// Issued atomic instructions: more than one for a loop.
    pub requests: u32,
    /// Cost of the atomics themselves.
    pub cost: SharedCost,
    /// Cost of the loop's loads, one for each request.
    pub loads: SharedCost,
}

/// Costs of one warp-wide atomic on shared memory, if no other warp comes between.
pub fn shared_atomic_cost(addresses: &Addresses, bytes: u32, form: AtomicForm) -> AtomicCost {
    let lanes_together = if bytes <= 4 { 32 } else { 16 };
    let bank = |address: u64| (address / 4 % 32) as usize;
    let at_best = |addresses: &Addresses, each: u32| {
        let active = addresses.iter().flatten().count();
        each * active.div_ceil(lanes_together) as u32
    };
    let in_turn = |each: u32| {
        let mut cost = SharedCost::default();
        for part in addresses.chunks(lanes_together) {
            let mut lanes = [0; 32];
            part.iter().flatten().for_each(|&address| lanes[bank(address)] += each);
            cost.wavefronts += lanes.into_iter().max().unwrap_or(0);
        }
        cost.ideal = at_best(addresses, each);
        AtomicCost { requests: 1, cost, loads: SharedCost::default() }
    };
    match form {
        AtomicForm::Native => in_turn(1),
        AtomicForm::CompareAndSwap => in_turn(2),
        AtomicForm::OncePerWarp => {
            AtomicCost { requests: 1, cost: SharedCost { wavefronts: 1, ideal: 1 }, loads: SharedCost::default() }
        }
        AtomicForm::CountLanes => AtomicCost {
            requests: 1,
            cost: shared_cost(addresses, bytes, Direction::Store),
            loads: SharedCost::default(),
        },
        AtomicForm::Loop => {
            let mut all = AtomicCost::default();
            let mut left = *addresses;
            // In each round one lane of each bank gets through, and only one of each word.
            while left.iter().any(Option::is_some) {
                let load = shared_cost(&left, bytes, Direction::Load);
                all.requests += 1;
                all.loads.wavefronts += load.wavefronts;
                all.loads.ideal += load.ideal;
                all.cost.ideal += at_best(&left, 2);
                let mut changed: Vec<u64> = Vec::new();
                for part in left.chunks_mut(lanes_together) {
                    all.cost.wavefronts += 2 * u32::from(part.iter().any(Option::is_some));
                    let mut done = [false; 32];
                    let earlier = changed.len();
                    for lane in part {
                        let Some(address) = *lane else { continue };
                        let first = !std::mem::replace(&mut done[bank(address)], true);
                        if first && !changed[..earlier].contains(&address) {
                            changed.push(address);
                            *lane = None;
                        }
                    }
                }
            }
            all
        }
    }
}
