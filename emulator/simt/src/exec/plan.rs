//! Data that is prepared once for each kernel, before it runs.

use program::{DecodedKernel, OpKind};

pub(crate) const NO_MEMO: u32 = u32::MAX;

/// Prepared once per kernel.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Index of the memo that each operation uses, or [`NO_MEMO`].
    pub(crate) memo_of: Vec<u32>,
    pub(crate) n_memos: usize,
    /// Static ranges of shared memory that the kernel may access; the dynamic range follows from the launch.
    pub(crate) shared: Vec<(u32, u32)>,
}

impl Plan {
    pub(crate) fn new(kernel: &DecodedKernel) -> Self {
        let mut n_memos = 0;
        let memo_of = kernel.ops.iter().map(|op| match op.kind {
            OpKind::Load(_) | OpKind::Store(_) | OpKind::Atomic(_) | OpKind::MatrixLoad(_) | OpKind::MatrixStore(_) => {
                n_memos += 1;
                n_memos as u32 - 1
            }
            // One for each end.
            OpKind::CpAsync { .. } => {
                n_memos += 2;
                n_memos as u32 - 2
            }
            _ => NO_MEMO,
        });
        let memo_of = memo_of.collect();
        let mut shared: Vec<(u32, u32)> = kernel
            .shared
            .iter()
            .filter(|a| a.bytes > 0)
            .map(|a| (a.offset, a.offset.saturating_add(a.bytes)))
            .collect();
        shared.sort_unstable();
        Self { memo_of, n_memos, shared }
    }
}
