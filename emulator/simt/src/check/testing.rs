//! Kernels made by hand for the tests of the checks: nothing in them runs.

use program::{DecodedKernel, InstrInfo, SourceLoc};

/// Returns a kernel whose instructions come from the given source lines.
pub(crate) fn kernel(lines: &[u32]) -> DecodedKernel {
    let instr = |(index, &line): (usize, &u32)| InstrInfo {
        text: format!("instr{index};"),
        ptx_line: 100 + index as u32,
        source: (line > 0).then_some(SourceLoc { file: 1, line, column: 5 }),
        ..InstrInfo::default()
    };
    DecodedKernel {
        name: "kernel".into(),
        instrs: lines.iter().enumerate().map(instr).collect(),
        n_preds: 2,
        shared_dynamic_base: 1024,
        ..DecodedKernel::default()
    }
}
