//! Kernels made by hand for the tests of the checks: nothing in them runs.

use crate::program::{AtomicForm, InstrInfo, Kernel, SourceLoc};

/// A kernel whose instructions come from the given source lines.
pub(crate) fn kernel(lines: &[u32]) -> Kernel {
    Kernel {
        name: "kernel".into(),
        ops: Vec::new(),
        instrs: lines
            .iter()
            .enumerate()
            .map(|(index, &line)| InstrInfo {
                text: format!("instr{index};"),
                ptx_line: 100 + index as u32,
                calls: Box::default(),
                source: (line > 0).then_some(SourceLoc { file: 1, line, column: 5 }),
                fmas: 0,
                merge: None,
                atomic: AtomicForm::Native,
            })
            .collect(),
        n_lines: 0,
        n_preds: 2,
        consts: Vec::new(),
        shared_consts: Vec::new(),
        specials: Vec::new(),
        params: Vec::new(),
        param_bytes: 0,
        shared: Vec::new(),
        shared_static_bytes: 0,
        shared_dynamic_base: 1024,
        shared_dynamic_align: 4,
        local_bytes: 0,
        local: Vec::new(),
        max_threads: None,
        max_registers: None,
        required_threads: None,
        cluster: crate::program::ClusterDirectives::default(),
        min_blocks_per_sm: None,
        order: crate::program::BlockOrder::Any,
        shared_subword: false,
        calls: None,
        shapes: Vec::new(),
        machine_code: false,
        in_flight: None,
        unset: Vec::new(),
    }
}
