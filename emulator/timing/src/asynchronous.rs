//! Barriers that are not those of all warps of a block: in shared memory, of some of the warps, of the cluster.

use std::collections::BTreeMap;

/// A barrier in shared memory: its phases end when all arrivals and all bytes are in.
#[derive(Debug, Default)]
struct Phases {
    /// Arrivals that each phase expects, and those that the current one lacks.
    arrivals: u32,
    missing: u32,
    /// Bytes that the current phase expects, less those of copies that have started.
    bytes: i64,
    /// Clock at which what is known of the current phase is in.
    known: u64,
    /// Copies belong to the current phase.
    has_copies: bool,
    /// Clocks at which phases ended, and whether copies belonged to them.
    ended: Vec<(u64, bool)>,
    waiting: Waiting,
}

/// Warps that wait, by index, and the phases that must have ended.
type Waiting = Vec<(usize, u32)>;

/// A warp that may go on: its index, the clock, and whether copies belonged to the phase.
pub(crate) type Woken = (usize, u64, bool);

impl Phases {
    /// Ends the current phase, if all is in. Returns the warps that waited for that.
    fn end(&mut self) -> Vec<Woken> {
        if self.missing > 0 || self.bytes != 0 {
            return Vec::new();
        }
        // Phases end one after another.
        let before = self.ended.last().map_or(0, |&(when, _)| when);
        let (when, has_copies) = (self.known.max(before), self.has_copies);
        self.ended.push((when, has_copies));
        (self.missing, self.known, self.has_copies) = (self.arrivals, 0, false);
        let ended = self.ended.len() as u32;
        self.waiting
            .extract_if(.., |&mut (_, phases)| phases <= ended)
            .map(|(warp, _)| (warp, when, has_copies))
            .collect()
    }
}

/// A barrier of the block at which a number of threads meet.
#[derive(Debug, Default)]
struct Meeting {
    warps: u32,
    /// Clock at which the barrier has registered all arrivals.
    registered: u64,
    waiting: Vec<usize>,
}

/// The barriers of a block, other than the one of all its warps.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    shared: BTreeMap<u32, Phases>,
    meetings: BTreeMap<u8, Meeting>,
    cluster: Phases,
}

impl Barriers {
    pub(crate) fn init(&mut self, barrier: u32, arrivals: u32) {
        self.shared.insert(barrier, Phases { arrivals, missing: arrivals, ..Phases::default() });
    }

    /// Counts arrivals at clock `when`, and changes the bytes that the phase expects.
    pub(crate) fn arrive(&mut self, barrier: u32, arrivals: u32, bytes: i32, when: u64) -> Vec<Woken> {
        let Some(phases) = self.shared.get_mut(&barrier) else { return Vec::new() };
        phases.missing = phases.missing.saturating_sub(arrivals);
        phases.bytes += i64::from(bytes);
        phases.known = phases.known.max(when);
        phases.end()
    }

    /// Counts the bytes of a copy that arrives at clock `when`.
    pub(crate) fn load(&mut self, barrier: u32, bytes: u64, when: u64) -> Vec<Woken> {
        let Some(phases) = self.shared.get_mut(&barrier) else { return Vec::new() };
        phases.bytes -= bytes as i64;
        phases.known = phases.known.max(when);
        phases.has_copies = true;
        phases.end()
    }

    /// Returns the clock at which so many phases have ended, and whether copies belonged to the last of them; makes the
    /// warp wait where that is not known.
    pub(crate) fn wait(&mut self, barrier: u32, phases: u32, warp: usize) -> Option<(u64, bool)> {
        let Some(last) = phases.checked_sub(1) else { return Some((0, false)) };
        let barrier = self.shared.entry(barrier).or_default();
        let ended = barrier.ended.get(last as usize).copied();
        if ended.is_none() {
            barrier.waiting.push((warp, phases));
        }
        ended
    }

    /// Registers a warp at the barrier `id`, at which `threads` threads meet; it takes `clocks` for each. Returns the
    /// warps that waited there, and the clock, once all are there.
    pub(crate) fn meet(
        &mut self, id: u8, threads: u16, warp: Option<usize>, now: u64, clocks: u64,
    ) -> Option<(Vec<usize>, u64)> {
        let meeting = self.meetings.entry(id).or_default();
        meeting.warps += 1;
        meeting.registered = meeting.registered.max(now) + clocks;
        meeting.waiting.extend(warp);
        if meeting.warps * 32 < u32::from(threads) {
            return None;
        }
        let Meeting { registered, waiting, .. } = std::mem::take(meeting);
        Some((waiting, registered))
    }

    /// Registers a warp at the barrier of the cluster, at which `live` warps of the block must arrive; it takes
    /// `clocks` for each. Its other blocks are taken to be in step.
    pub(crate) fn arrive_in_cluster(&mut self, live: usize, when: u64, clocks: u64) -> Vec<Woken> {
        self.cluster.arrivals += 1;
        self.cluster.known = self.cluster.known.max(when) + clocks;
        self.meet_in_cluster(live)
    }

    /// Ends the phase of the cluster's barrier, if the `live` warps of the block have arrived.
    pub(crate) fn meet_in_cluster(&mut self, live: usize) -> Vec<Woken> {
        if self.cluster.arrivals == 0 || (self.cluster.arrivals as usize) < live {
            return Vec::new();
        }
        self.cluster.arrivals = 0;
        self.cluster.end()
    }

    /// Returns as [`Self::wait`] does for the phase of the cluster's barrier in which the warp has arrived.
    pub(crate) fn wait_for_cluster(&mut self, phases: u32, warp: usize) -> Option<u64> {
        let ended = self.cluster.ended.get((phases as usize).wrapping_sub(1)).map(|&(when, _)| when);
        if ended.is_none() {
            self.cluster.waiting.push((warp, phases));
        }
        ended
    }
}
