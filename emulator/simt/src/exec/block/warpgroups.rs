//! MMAs (`wgmma`) of a block that are in flight.

use std::collections::{BTreeMap, VecDeque};

use crate::lane_mask::LaneMask;
use program::mma::warpgroup::{PIECE, WARPS};

/// Pieces of a factor by address, with the bytes that they held when the product was issued.
pub(crate) type FactorBytes = Vec<(u32, [u8; PIECE as usize])>;

#[derive(Debug, Default)]
pub(crate) struct Warpgroups {
    pub(crate) groups: Vec<Warpgroup>,
    /// In a cluster, where checked: by instruction and factor, the descriptor of the block's last product.
    pub(crate) last: BTreeMap<(u32, usize), u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Warpgroup {
    /// MMAs that some warp has not waited for, the oldest first.
    pub(crate) products: VecDeque<PendingProduct>,
    /// Number of the oldest.
    pub(crate) first: u64,
    pub(crate) warps: [WarpProgress; WARPS as usize],
    pub(crate) waits: u64,
    /// In checked launches, by warp: lines written since its last `wgmma.fence`, and the instruction that did.
    pub(crate) written: [BTreeMap<u32, u32>; WARPS as usize],
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct WarpProgress {
    /// Products that it has issued.
    pub(crate) issued: u64,
    /// Products that it has waited for.
    pub(crate) waited: u64,
    /// Groups that it has committed.
    pub(crate) committed: u32,
    /// Groups that its last wait left in flight; `None` if it has not waited.
    pub(crate) left: Option<u32>,
    /// Whether the warp has executed `wgmma.fence`.
    pub(crate) fenced: bool,
    /// Uses of registers of products below this number have been reported.
    pub(crate) reported: u64,
}

/// A product in flight: what each of the four warps has issued of it.
#[derive(Debug, Default)]
pub(crate) struct PendingProduct {
    pub(crate) parts: [Option<WarpPart>; WARPS as usize],
    /// Whether a warp has waited for it.
    pub(crate) complete: bool,
}

/// A warp's 16 rows of a product.
#[derive(Debug)]
pub(crate) struct WarpPart {
    pub(crate) pc: u32,
    pub(crate) active: LaneMask,
    pub(crate) group: u32,
    /// Descriptors of A and B; that of A is 0 where A is in registers.
    pub(crate) descriptors: [u64; 2],
    pub(crate) a: Option<Box<[[u32; 32]; 4]>>,
    /// Whether the product is added to what the accumulators hold.
    pub(crate) adds: bool,
    /// Lines that have got another use meanwhile.
    pub(crate) lost: Vec<u32>,
    pub(crate) done: bool,
    /// In checked launches: bytes of its rows of A, and of B, when it was issued.
    pub(crate) seen: [FactorBytes; 2],
}

impl Warpgroups {
    pub(crate) fn is_in_flight(&self, warp: u32) -> bool {
        let group = self.groups.get((warp / WARPS) as usize);
        group.is_some_and(|group| {
            let progress = group.warps[(warp % WARPS) as usize];
            progress.waited < progress.issued
        })
    }

    pub(crate) fn of(&mut self, warp: u32) -> &mut Warpgroup {
        let group = (warp / WARPS) as usize;
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, Warpgroup::default);
        }
        &mut self.groups[group]
    }

    /// Returns the warpgroup of a warp, and the place of the warp in it.
    pub(crate) fn own(&mut self, warp: u32) -> (&mut Warpgroup, usize) {
        (self.of(warp), (warp % WARPS) as usize)
    }
}

impl Warpgroup {
    /// Returns the place of a product in the list.
    pub(crate) fn place(&self, number: u64) -> usize {
        (number - self.first) as usize
    }
}
