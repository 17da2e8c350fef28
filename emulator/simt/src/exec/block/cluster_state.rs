//! The blocks of a cluster that wait while another one runs.

use crate::check::Collector;
use crate::check::race::SharedRaces;

use super::Block;

/// The blocks of a cluster but for the one that runs.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By rank; `None` in the place of the one that runs.
    pub(crate) members: Vec<Option<Box<Block>>>,
    /// By rank; the race checks of the block that runs are in `Worker::checks.shared_races`.
    pub(crate) races: Vec<Option<SharedRaces>>,
    /// By rank; what the block that runs did wrong is in `Worker::checks.collector`.
    pub(crate) collectors: Vec<Collector>,
}

impl Cluster {
    pub(crate) fn others(&mut self) -> impl Iterator<Item = &mut Block> {
        self.members.iter_mut().flatten().map(|block| &mut **block)
    }

    /// Returns whether a value that a block polled has changed.
    pub(crate) fn changed(&mut self) -> bool {
        let others = self.members.iter().flatten();
        { others }.any(|block| block.live > 0 && block.poll_cache.changed())
    }
}
