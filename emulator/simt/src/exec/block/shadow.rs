//! Undefined bits of a warp's registers, and each lane's origin of them.

use crate::{check::CopiedBy, lane_mask::LaneMask};
use program::Unset;

/// Index that stands for no instruction.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Origin of an undefined value, and the path that it has taken since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The instruction that read the value from unwritten memory; of an unset register, the first that reads it.
    pub(crate) load: u32,
    /// Bytes per lane of that read; 0 for a register.
    pub(crate) bytes: u32,
    /// Generic address that the lane read; of a shuffle, the lanes that execute it above those that it names.
    pub(crate) address: u64,
    /// The first arithmetic instruction that computed with the value, or [`NOWHERE`].
    pub(crate) computed: u32,
    /// The last store that put a copy of it in memory.
    pub(crate) copied: Option<CopiedBy>,
    /// Cause, equal for reads that are reported together: see [`crate::check::Collector::cause`].
    pub(crate) cause: (u32, u64),
}

/// Mark in the cause of what was shuffled.
const SHUFFLED: u64 = 1 << 63;

const MAX_ORIGINS: usize = 3;

/// Origins of a value that may have been computed from several undefined ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origins([Origin; MAX_ORIGINS]);

impl Origins {
    pub(crate) const NONE: Self = Self([Origin::NONE; MAX_ORIGINS]);

    pub(crate) fn one(origin: Origin) -> Self {
        let mut all = Self::NONE;
        all.0[0] = origin;
        all
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Origin> {
        self.0.iter().filter(|origin| origin.load != NOWHERE)
    }

    pub(crate) fn first(&self) -> Origin {
        self.0[0]
    }

    /// Adds those that have causes of their own, up to the capacity.
    pub(crate) fn join(&mut self, other: &Self) {
        for origin in other.iter() {
            if self.iter().any(|known| known.cause == origin.cause) {
                continue;
            }
            if let Some(free) = self.0.iter_mut().find(|place| place.load == NOWHERE) {
                *free = *origin;
            }
        }
    }

    /// Records arithmetic on the value.
    pub(crate) fn compute(&mut self, instr: u32) {
        for origin in self.0.iter_mut().filter(|origin| origin.computed == NOWHERE) {
            origin.computed = instr;
        }
    }

    pub(crate) fn is_computed(&self) -> bool {
        self.iter().any(|origin| origin.computed != NOWHERE)
    }
}

impl Origin {
    /// Creates the origin of a register that is not set when its warp starts, by [`Unset::reader`].
    fn register(reader: Option<u32>) -> Self {
        let reader = reader.unwrap_or(u32::MAX);
        // A `load` of `NOWHERE` would mean that there is no origin.
        Self { load: reader.min(NOWHERE - 1), cause: (reader, u64::MAX), ..Self::NONE }
    }

    /// Creates the origin of what `lane` shuffles from a lane that does not execute the instruction, or is not named.
    pub(crate) fn shuffled(load: u32, [named, present]: [LaneMask; 2], lane: usize, from: u32) -> Self {
        let address = u64::from(present.bits()) << 32 | u64::from(named.bits());
        Self { load, address, cause: (load, SHUFFLED | (lane as u64) << 8 | u64::from(from)), ..Self::NONE }
    }

    /// Returns the lanes of [`Self::shuffled`]: the one that shuffles and the one that it reads from.
    pub(crate) fn shuffle(&self) -> Option<(usize, u32)> {
        let lanes = self.cause.1 & !SHUFFLED;
        (self.is_register() && lanes < 1 << 16 && lanes != self.cause.1)
            .then_some((lanes as usize >> 8, lanes as u32 & 31))
    }

    /// Returns whether it is a register that nothing has set, rather than unwritten memory.
    pub(crate) fn is_register(&self) -> bool {
        self.bytes == 0
    }

    const NONE: Self =
        Self { load: NOWHERE, bytes: 0, address: 0, computed: NOWHERE, copied: None, cause: (NOWHERE, 0) };
}

/// A register with undefined bits.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Lanes that have undefined bits. `bits` and `origins` of the others are stale.
    pub(crate) lanes: LaneMask,
    pub(crate) bits: [u64; 32],
    pub(crate) origins: [Origins; 32],
}

/// The registers of one warp that have undefined bits: by line, a 64-bit register at its first, then by predicate.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    traces: Vec<Option<Box<Trace>>>,
    n_lines: usize,
    /// Registers with undefined bits.
    live: usize,
}

/// A register or predicate of a [`Shadow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShadowIndex(usize);

impl Shadow {
    pub(crate) fn new(n_lines: u32, n_preds: u32) -> Self {
        let n_lines = n_lines as usize;
        Self { traces: std::iter::repeat_with(|| None).take(n_lines + n_preds as usize).collect(), n_lines, live: 0 }
    }

    /// Returns whether all registers are defined.
    #[inline(always)]
    pub(crate) fn is_clean(&self) -> bool {
        self.live == 0
    }

    /// Marks all registers as defined.
    pub(crate) fn reset(&mut self) {
        if self.live > 0 {
            self.traces.iter_mut().flatten().for_each(|trace| trace.lanes = LaneMask::EMPTY);
            self.live = 0;
        }
    }

    /// Marks registers that have no value when a warp of these lanes starts.
    pub(crate) fn start(&mut self, unset: &[Unset], lanes: LaneMask) {
        for one in unset {
            let spot = if one.is_predicate { self.pred(one.place) } else { self.line(one.place) };
            let undefined = u64::MAX >> (64 - one.bits.clamp(1, 64));
            let origins = Origins::one(Origin::register(one.reader));
            lanes.iter().for_each(|lane| self.undefine(spot, lane, undefined, origins));
        }
    }

    /// Returns a source's place; `None` for constants and absent operands.
    pub(crate) fn source(&self, src: i32) -> Option<ShadowIndex> {
        (src >= 0).then_some(ShadowIndex(src as usize))
    }

    pub(crate) fn line(&self, dst: u32) -> ShadowIndex {
        ShadowIndex(dst as usize)
    }

    pub(crate) fn pred(&self, index: u32) -> ShadowIndex {
        ShadowIndex(self.n_lines + index as usize)
    }

    pub(crate) fn get(&self, spot: ShadowIndex) -> Option<&Trace> {
        self.traces.get(spot.0)?.as_deref().filter(|trace| !trace.lanes.is_empty())
    }

    /// Returns the lanes with undefined bits.
    #[inline]
    pub(crate) fn lanes(&self, spot: ShadowIndex) -> LaneMask {
        self.get(spot).map_or(LaneMask::EMPTY, |trace| trace.lanes)
    }

    pub(crate) fn bits(&self, spot: ShadowIndex, lane: usize) -> u64 {
        self.get(spot).filter(|trace| trace.lanes.contains(lane)).map_or(0, |trace| trace.bits[lane])
    }

    pub(crate) fn origins(&self, spot: ShadowIndex, lane: usize) -> Origins {
        self.get(spot).map_or(Origins::NONE, |trace| trace.origins[lane & 31])
    }

    pub(crate) fn define(&mut self, spot: ShadowIndex, lanes: LaneMask) {
        let Some(Some(trace)) = self.traces.get_mut(spot.0) else { return };
        if !(trace.lanes & lanes).is_empty() {
            trace.lanes &= !lanes;
            self.live -= usize::from(trace.lanes.is_empty());
        }
    }

    pub(crate) fn undefine(&mut self, spot: ShadowIndex, lane: usize, bits: u64, origins: Origins) {
        if bits == 0 {
            return self.define(spot, LaneMask::of(lane));
        }
        let Some(place) = self.traces.get_mut(spot.0) else { return };
        let trace = place.get_or_insert_with(|| {
            Box::new(Trace { lanes: LaneMask::EMPTY, bits: [0; 32], origins: [Origins::NONE; 32] })
        });
        self.live += usize::from(trace.lanes.is_empty());
        trace.lanes |= LaneMask::of(lane);
        trace.bits[lane] = bits;
        trace.origins[lane] = origins;
    }
}
