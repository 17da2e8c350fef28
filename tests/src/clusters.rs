//! Clusters and distributed shared memory, used the same way on a GPU and on the emulator.
//!
//! Each case is a kernel of a few lines that every thread executes, and what thread 0 of each block sees. The example
//! `clusters_on_device` asks a GPU; `it/steps.rs` asks the emulator. The answers are what the PTX manual defines,
//! and what an H200 gave (driver 580.159.04, 2026-11-23); but it was not asked for "bytes of a barrier of the next
//! block" as it is now.

use std::fmt::Write as _;

use crate::{Answer, UNSEEN};

/// Words of the result of each block.
pub const SEEN: usize = 8;
pub const BLOCKS: usize = 8;
/// Words of global memory.
pub const WORDS: usize = 64;

#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// Blocks of a cluster in x, y and z; `None` means a launch without.
    pub cluster: Option<[u32; 3]>,
    /// Blocks in x, y and z; 32 threads each.
    pub grid: [u32; 3],
    /// PTX instructions separated by `; `, and `see R` (thread 0 of the block sees a register), `sync` (all threads of
    /// the cluster wait for each other), `one` … `all` (only thread 0 executes what stands between), `wait PARITY` (for
    /// the block's own barrier).
    ///
    /// Registers: `%r1` thread, `%r2` block of the grid, `%r3` rank, `%r4` the shared array `box`, `%r5` the barriers
    /// `bars`, `%r6` the rank of the next block, `%r7` and `%r8` its `box` and `bars`, `%d1` global memory.
    pub body: &'static str,
}

const INIT: &str = "one; mbarrier.init.shared::cta.b64 [%r5], 1; fence.mbarrier_init.release.cluster; all; sync; ";

/// Returns the cases of `tests/data/steps/clusters.txt`, each with its answer.
pub fn cases() -> impl Iterator<Item = (Case, Answer)> {
    let size = |text: &str| -> [u32; 3] {
        let sizes: Vec<u32> = text.split('x').filter_map(|size| size.parse().ok()).collect();
        sizes.try_into().unwrap_or_else(|_| panic!("`{text}` is not three sizes"))
    };
    crate::cases(include_str!("../data/steps/clusters.txt")).map(move |([head, body], answer)| {
        let [name, cluster, grid] = head.split("  ").collect::<Vec<_>>()[..] else { panic!("`{head}` lacks sizes") };
        let cluster = (cluster != "-").then(|| size(cluster));
        (Case { name, cluster, grid: size(grid), body }, answer)
    })
}

/// Returns the module with the kernel `steps` of a case, and directives of the kernel.
pub fn module_with(case: &Case, directives: &str) -> String {
    let mut text = format!(include_str!("clusters.ptx"), directives = directives, seen_bytes = 4 * SEEN);
    let (mut n_seen, mut n_labels) = (0, 0);
    for step in case.body.replace("INIT ", INIT).split("; ") {
        let words: Vec<&str> = step.split(' ').collect();
        let line = match words[..] {
            ["see", register] => {
                n_seen += 1;
                format!("@!%p1 st.global.u32 [%d2+{}], {register};", 4 * (n_seen - 1))
            }
            ["sync"] => "barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;".to_owned(),
            ["one"] => {
                n_labels += 1;
                format!("@%p1 bra $all{n_labels};")
            }
            ["all"] => format!("$all{n_labels}:\n    bar.warp.sync -1;"),
            ["wait", parity] => {
                n_labels += 1;
                format!(
                    "$wait{n_labels}:\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r5], {parity};\n    \
                     @!%p7 bra $wait{n_labels};"
                )
            }
            _ if step.ends_with(':') => step.to_owned(),
            _ => format!("{step};"),
        };
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("    ret;\n}\n");
    text
}

pub fn module(case: &Case) -> String {
    module_with(case, "")
}

/// Returns the words that the blocks saw, as one line: `101 | 100`.
pub fn shown(words: &[u32]) -> String {
    let block = |words: &[u32]| {
        let seen = words.iter().take_while(|word| **word != UNSEEN);
        seen.map(u32::to_string).collect::<Vec<_>>().join(" ")
    };
    let blocks: Vec<String> = words.chunks(SEEN).map(block).collect();
    blocks.join(" | ").trim_end_matches([' ', '|']).to_owned()
}
