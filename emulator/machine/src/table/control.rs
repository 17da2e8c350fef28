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
    (0x11d, "rr", "BAR{.SYNC,.ARV}@77{,.DEFER_BLOCKING}@80", "= R@32 R@32", "", "barrier of the block: number and threads in one register"),
    (0x11d, "ri", "BAR{.SYNC,.ARV}@77{,.DEFER_BLOCKING}@80", "= R@32 I@42+12", "", "barrier of the block"),
    (0x143, "rr", "CALL.ABS.NOINC", "= {!P@87} R@24", "85..87=2", "call a function"),
    (0x144, "rr", "CALL.REL.NOINC", "= {!P@87} R@24 _L", "85..87=2", "call a function: a label plus a register"),
    (0x144, "ir", "CALL.REL.NOINC", "= {!P@87} L", "85..87=2", "call a function"),
    (0x150, "ir", "RET.REL.NODEC", "= {!P@87} R@24 _L", "85..87=2", "return: a label plus a register"),
    (0x149, "ir", "BRX", "= {!P@87} R@24 _LX", "", "go to a register's address"),
    (0x14e, "ir", "LEPC", "R@16 = LC", "", "the address of a label"),
    (0x146, "ir", "YIELD", "= {!P@87}", "", "let others run"),
    (0x148, "rr", "WARPSYNC{,.EXCLUSIVE}@85", "= {!P@87} R@24", "", "wait for the lanes of a mask"),
    (0x148, "rr", "WARPSYNC.COLLECTIVE", "= {!P@87} R@24 L", "86..87=1", "wait for the lanes of a mask; one of them goes on, there"),
    (0x148, "ir", "WARPSYNC.ALL", "= {!P@87}", "", "wait for all lanes"),
    (0x148, "ir", "WARPSYNC.COLLECTIVE.ALL", "= {!P@87} L", "86..87=1", "wait for all lanes; one of them goes on, there"),
    (0x11b, "ir", "ENDCOLLECTIVE", "= {!P@87}", "", "the end of what one lane does for all"),
    (0x11a, "ir", "DEPBAR.LE", "= SB@44 I@38+6", "47..48=1", "wait until at most so many are left"),
    (0x15c, "ir", "BPT.TRAP", "= I@34+20", "84..87=3", "stop the launch"),
    (0x15d, "ir", "NANOSLEEP", "= {!P@87} I@32+32", "", "sleep"),
    (0x15d, "rr", "NANOSLEEP", "= {!P@87} R@32", "", "sleep"),
    (0x192, "ir", "MEMBAR{.SC,.ALL}@79{.CTA,.SM,.GPU,.SYS}@76", "=", "", "order memory"),
    (0x18f, "ir", "CCTL.IVALL", "=", "24..32=255 87..91=4", "forget what the cache holds"),
    (0x1ab, "ir", "ERRBAR", "=", "", "wait for errors"),
    (0x1ab, "ri", "CGAERRBAR", "=", "", "wait for errors of the cluster"),
    (0x1af, "ir", "LDGDEPBAR", "=", "", "the copies so far are one group"),
];
