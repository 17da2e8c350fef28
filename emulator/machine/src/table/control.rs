//! Branches, calls, barriers.

use super::Line;

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    (0x118, "ir", "NOP", "=", "", "nothing"),
    (0x14d, "ir", "EXIT", "= {!P@87}", "", "the lanes end"),
    (0x147, "ir", "BRA", "= {!P@87} L", "", "go elsewhere"),
    (0x147, "ir", "BRA.DIV", "= {!P@87} UR@24 L", "32..34=2 91..92=1", "go elsewhere if not all lanes of a mask are here"),
    (0x145, "ir", "BSSY", "= {!P@87} B@16 L@34", "", "lanes reconverge at a barrier, there"),
    (0x141, "ir", "BSYNC", "= {!P@87} B@16", "", "wait for the lanes of a barrier"),
    (0x142, "ir", "BREAK", "= {!P@87} B@16", "", "lanes leave a barrier"),
    (0x11d, "cr", "BAR{.SYNC,.ARV}@77{,.DEFER_BLOCKING}@80", "= I@54+4 {I@42+12=0}", "", "barrier of the block"),
    (0x11d, "cr", "BAR.RED{.POPC,.AND,.OR}@74{,.DEFER_BLOCKING}@80", "= I@54+4 {I@42+12=0} !P@87", "77..80=2", "barrier of the block, with a reduction of a predicate"),
];
