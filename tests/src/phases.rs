//! Barriers in shared memory and bulk copies, used the same way on a GPU and on the emulator.
//!
//! Each case is a line of steps that one thread takes, and what it sees. The example `clusters_on_device` asks a GPU;
//! `it/steps.rs` asks the emulator. The answers are what the PTX manual defines, and what an H200 gave to all of them.

use std::fmt::Write as _;

use crate::{Answer, UNSEEN};

/// Words of global memory that copies read and write, and bytes of shared memory.
pub const WORDS: usize = 512;
pub const SEEN: usize = 16;

/// Returns the cases of `tests/data/steps/phases.txt`: a name and steps, which `; ` separates, and the answer.
///
/// Steps, on the barrier at hand:
/// - `init N`, `inval`, `arrive`, `arrive N`, `arrive+expect B`, `drop`, `drop N`, `part N` (`.noComplete`),
///   `expect B`, `complete B`
/// - `test P`, `try P` (by parity), `state` (by what the last arrival returned): sees 1 if the phase has ended
/// - `wait P`: tries up to 1000 times, sees 1 in the end
/// - `pending`: sees the arrivals in what the last arrival returned
/// - `barrier I`: takes the next of four barriers; `offset B`: takes one that lies B bytes behind the first
/// - `load TO FROM B`, `store FROM TO B`: bulk copies, offsets in bytes; `commit`, `group N`, `read N`
/// - `cp TO FROM`: `cp.async` of 16 bytes; `cp arrive`, `cp arrive noinc`
/// - `put AT V`, `get AT`, `look AT`: a word of shared memory written, seen; a word of global memory seen; `proxy`: the
///   fence
pub fn cases() -> impl Iterator<Item = ([&'static str; 2], Answer)> {
    crate::cases(include_str!("../data/steps/phases.txt"))
}

/// Returns the module with the kernel `steps` that takes these steps.
pub fn module(steps: &str) -> String {
    let mut text = format!(include_str!("phases.ptx"), bytes = 4 * WORDS);
    let with_number = |n: &str, operation: &str, result: &str| {
        format!("mov.u32 %r4, {n}; mbarrier.{operation}.shared::cta.b64 {result}[%r2], %r4")
    };
    let (mut n_seen, mut n_loops) = (0, 0);
    for step in steps.split("; ") {
        let words: Vec<&str> = step.split(' ').collect();
        let mut see = || {
            n_seen += 1;
            format!("st.global.u32 [%d2+{}], %r5", 4 * (n_seen - 1))
        };
        let lines = match words[..] {
            ["init", n] => with_number(n, "init", "") + "; fence.mbarrier_init.release.cluster",
            ["inval"] => "mbarrier.inval.shared::cta.b64 [%r2]".to_owned(),
            ["arrive"] => "mbarrier.arrive.shared::cta.b64 %d3, [%r2]".to_owned(),
            ["arrive", n] => with_number(n, "arrive.release.cta", "%d3, "),
            ["arrive+expect", n] => with_number(n, "arrive.expect_tx", "%d3, "),
            ["drop"] => "mbarrier.arrive_drop.shared::cta.b64 %d3, [%r2]".to_owned(),
            ["drop", n] => with_number(n, "arrive_drop", "%d3, "),
            ["part", n] => with_number(n, "arrive.noComplete", "%d3, "),
            ["expect", n] => with_number(n, "expect_tx.relaxed.cta", ""),
            ["complete", n] => with_number(n, "complete_tx.relaxed.cta", ""),
            [kind @ ("test" | "try"), parity] => format!(
                "mbarrier.{kind}_wait.parity.shared::cta.b64 %p2, [%r2], {parity}; selp.u32 %r5, 1, 0, %p2; {}",
                see()
            ),
            ["state"] => {
                format!("mbarrier.test_wait.shared::cta.b64 %p2, [%r2], %d3; selp.u32 %r5, 1, 0, %p2; {}", see())
            }
            ["wait", parity] => {
                n_loops += 1;
                format!(
                    "mov.u32 %r4, 0;\nagain{n_loops}:\n    \
                     mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], {parity}; add.u32 %r4, %r4, 1; \
                     setp.lt.and.u32 %p3, %r4, 1000, !%p2; @%p3 bra again{n_loops}; selp.u32 %r5, 1, 0, %p2; {}",
                    see()
                )
            }
            ["pending"] => format!("mbarrier.pending_count.b64 %r5, %d3; {}", see()),
            ["barrier", i] => format!("mov.u32 %r2, barriers; add.u32 %r2, %r2, {i} * 8"),
            ["offset", n] => format!("mov.u32 %r2, barriers; add.u32 %r2, %r2, {n}"),
            ["load", to, from, bytes] => format!(
                "mov.u32 %r4, {bytes}; add.u32 %r6, %r3, {to}; add.u64 %d4, %d1, {from}; \
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%d4], %r4, [%r2]"
            ),
            ["store", from, to, bytes] => format!(
                "mov.u32 %r4, {bytes}; add.u32 %r6, %r3, {from}; add.u64 %d4, %d1, {to}; \
                 cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r6], %r4"
            ),
            ["commit"] => "cp.async.bulk.commit_group".to_owned(),
            ["group", n] => format!("cp.async.bulk.wait_group {n}"),
            ["read", n] => format!("cp.async.bulk.wait_group.read {n}"),
            ["cp", "arrive"] => "cp.async.mbarrier.arrive.shared::cta.b64 [%r2]".to_owned(),
            ["cp", "arrive", "noinc"] => "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2]".to_owned(),
            ["cp", to, from] => format!("cp.async.ca.shared.global [%r3+{to}], [%d1+{from}], 16"),
            ["put", at, value] => format!("mov.u32 %r5, {value}; st.shared.u32 [%r3+{at}], %r5"),
            ["get", at] => format!("ld.shared.u32 %r5, [%r3+{at}]; {}", see()),
            ["look", at] => format!("ld.volatile.global.u32 %r5, [%d1+{at}]; {}", see()),
            ["proxy"] => "fence.proxy.async".to_owned(),
            _ => panic!("`{step}` is no step"),
        };
        let _ = writeln!(text, "    // {step}\n    {lines};");
    }
    text + "    ret;\n}\n"
}

pub fn shown(seen: &[u32]) -> String {
    let n = seen.iter().rposition(|word| *word != UNSEEN).map_or(0, |at| at + 1);
    let words: Vec<String> = seen[..n].iter().map(u32::to_string).collect();
    words.join(" ")
}
