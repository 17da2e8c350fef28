//! The machine-readable twin of a message, and causes that only some kernels show.

use std::sync::Arc;

use simt::gpu::{Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions, Names};
use simt::memory::Origin;

use crate::{Finding, Report};

const SOURCE: &str = include_str!("tests/kernel.cu");

const PTX: &str = include_str!("tests/kernel.ptx");

/// Returns the first finding of a checked launch of the only kernel in `ptx`.
fn first_finding(gpu: &Gpu, ptx: &str, [grid, block]: [u32; 2], params: Vec<u8>) -> Finding {
    let module = gpu.load(ptx).expect("it loads");
    let sources = vec![("kernel.cu".to_owned(), Arc::from(SOURCE))];
    let names = Names { sources, ..Names::default() };
    let options = LaunchOptions { check_level: CheckLevel::Checked, names, ..LaunchOptions::default() };
    let request = Geometry::line(grid, block).request(params, options);
    let loaded = &module.kernels()[0];
    let report = gpu.launch(loaded, &request).expect("it starts");
    Report::new(report, loaded, &request).findings.remove(0)
}

/// Returns the finding of two threads: 31 of blocks 0 and 1 read `x[32]` and `x[64]` of 32 elements.
fn finding() -> Finding {
    let gpu = Gpu::with_memory(1 << 20);
    let x = gpu.memory.alloc(128, Origin::new("cuMemAlloc")).expect("there is room");
    first_finding(&gpu, PTX, [2, 32], [63, x].map(u64::to_le_bytes).concat())
}

#[test]
fn the_twin_holds_every_fact() {
    let json = serde_json::to_string_pretty(&finding()).expect("a finding is plain data");
    insta::assert_snapshot!(json);
}

/// Returns the title of the first finding of a launch of one thread of a kernel with this body.
fn title(body: &str) -> String {
    let ptx = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n{{\n.reg .pred %p<4>;\n\
         .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [p];\n{body}\n$on:\nret;\n}}\n"
    );
    first_finding(&Gpu::with_memory(1 << 20), &ptx, [1, 1], vec![0; 8]).title
}

#[test]
fn the_trap_of_a_grid_that_is_not_cooperative_has_its_cause() {
    let no_workspace = "the barrier of a grid in a launch that is not cooperative";
    let itself = "the kernel stopped itself (`__trap()`)";
    let branch = "@%p1 bra $on;\ntrap;";
    for (body, expected) in [
        // What NVRTC makes of `this_grid().sync()`.
        (
            "mov.u32 %r4, %envreg2;\ncvt.u64.u32 %rd6, %r4;\nmov.u32 %r5, %envreg1;\ncvt.u64.u32 %rd7, %r5;\n\
             bfi.b64 %rd2, %rd7, %rd6, 32, 32;\nsetp.ne.s64 %p1, %rd2, 0;",
            no_workspace,
        ),
        (
            "mov.u32 %r4, %envreg2;\nmov.u32 %r5, %envreg1;\nmov.b64 %rd2, {%r4, %r5};\nsetp.ne.s64 %p1, %rd2, 0;",
            no_workspace,
        ),
        // A pointer of the kernel's own, beside a workspace.
        (
            "mov.u32 %r4, %envreg2;\nmov.u32 %r5, %envreg1;\nmov.b64 %rd2, {%r4, %r5};\nsetp.ne.s64 %p1, %rd1, 0;",
            itself,
        ),
        ("setp.ne.s64 %p1, %rd1, 0;", itself),
    ] {
        assert_eq!(title(&format!("{body}\n{branch}")), expected, "{body}");
    }
}
