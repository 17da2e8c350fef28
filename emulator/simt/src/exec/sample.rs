//! Texture fetches.

use crate::check::Details;
use crate::finding::Code;
use crate::program::Texture;

use super::Cx;

impl Cx<'_> {
    pub(crate) fn texture(&mut self, t: &Texture, pc: u32, on: u32) {
        let lane = on.trailing_zeros() as usize;
        let handle = self.u64_at(t.handle, lane);
        self.report(pc, Code::Texture, on, Details::Texture { handle });
    }
}
