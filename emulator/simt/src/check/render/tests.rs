//! The machine-readable twin of a message, and its coloured form, for an event made by hand.

use std::sync::Arc;

use crate::check::testing::kernel;
use crate::check::{AccessKind, Allocation, BadAccess, Collector, Context, Details, Event};
use crate::finding::{Code, Finding};
use crate::launch::{LaunchConfig, LaunchOptions, Names};
use crate::program::{MemSpace, Param};

const SOURCE: &str = "\
extern \"C\" __global__ void kernel(int n, const float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}
";

const BASE: u64 = 5 << 40;

/// Threads 31 of blocks 0 and 1 read `x[32]` and `x[64]` of 32 elements.
fn finding() -> Finding {
    let mut kernel = kernel(&[4]);
    kernel.instrs[0].text = "ld.global.f32 %f1, [%rd4];".into();
    let param = |name: &str, offset, bytes| Param {
        name: name.into(),
        offset,
        bytes,
        maybe_pointer: bytes == 8,
    };
    kernel.params = vec![param("kernel_param_0", 0, 4), param("kernel_param_1", 8, 8)];
    let mut params = 63u64.to_le_bytes().to_vec();
    params.extend(BASE.to_le_bytes());
    let sources = vec![("kernel.cu".to_owned(), Arc::from(SOURCE))];
    let names = Names {
        params: Vec::new(),
        sources,
    };
    let config = LaunchConfig {
        grid: [2, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params,
        options: LaunchOptions {
            names,
            ..LaunchOptions::default()
        },
    };
    let mut collector = Collector::new(&kernel, config.grid, config.block);
    for block in [1, 0] {
        let mut other = Collector::new(&kernel, config.grid, config.block);
        other.record(Event {
            code: Code::OutOfBounds,
            instr: 0,
            block,
            warp: 0,
            mask: 1 << 31,
            details: Details::Access(BadAccess {
                kind: AccessKind::Read,
                space: MemSpace::Global,
                address: BASE + 128 * (block + 1),
                bytes: 4,
            }),
        });
        collector.merge(other);
    }
    let find = |address: u64| {
        (address >> 40 == BASE >> 40).then_some(Allocation {
            base: BASE,
            bytes: 128,
            number: 1,
            symbol: None,
            freed: false,
            read_only: false,
        })
    };
    let files = [(1, "src/kernel.cu".to_owned())];
    let context = Context {
        kernel: &kernel,
        files: &files,
        config: &config,
        find: &find,
        executed: None,
    };
    collector.finish(&context).remove(0)
}

#[test]
fn the_twin_holds_every_fact() {
    let json = serde_json::to_string_pretty(&finding()).expect("a finding is plain data");
    insta::assert_snapshot!(json);
}

#[test]
fn colour_marks_the_header_the_caret_and_the_labels() {
    insta::assert_snapshot!(finding().colored().replace('\x1b', "ESC"));
}
