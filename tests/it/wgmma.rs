//! Products of a warpgroup: every form leaves in registers what it left on an H200 (`tests/data/wgmma`), with checks
//! and without.
//!
//! Products of whole tiles are compared with hardware by the tests of the steps.

use std::collections::BTreeMap;

use simt::{launch::CheckLevel, module::Module};
use tests::gpu::{Argument, Geometry, Gpu, clean, options};
use tests::wgmma::{Case, IMAGE_BYTES, THREADS, cases, end, hash, image, module, sums};

/// The hash of what the registers of all threads held, by the name of the case.
const ANSWERS: &str = include_str!("../data/wgmma/h200.txt");

fn run(gpu: &Gpu, module: &Module, case: &Case, check_level: CheckLevel) -> Result<Vec<u32>, String> {
    let words = (THREADS * case.form.words()) as usize;
    let out = gpu.upload(&vec![0u32; words]);
    let arguments = [
        Argument::from(gpu.upload(&image(case.image()))),
        Argument::from(gpu.upload(&sums(case))),
        Argument::from(out),
        Argument(case.descriptors[0].to_le_bytes().to_vec()),
        Argument(case.descriptors[1].to_le_bytes().to_vec()),
        Argument(u32::from(case.adds).to_le_bytes().to_vec()),
    ];
    let shape = Geometry { dynamic_shared: IMAGE_BYTES as u32, ..Geometry::line(1, THREADS) };
    let options = options(check_level, 1 << 26, 1);
    clean(gpu.launch(module, &case.form.kernel(), shape, &arguments, options)?)?;
    Ok(gpu.read(out, words))
}

#[track_caller]
fn refused(target: &str, instruction: &str, why: &str) {
    let text = format!(
        ".version 8.4\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n    .reg .b32 %r<4>;\n    \
         .reg .b64 %d<2>;\n    {instruction}\n    ret;\n}}\n"
    );
    match Module::load(&Gpu::default().memory, &text, None) {
        Ok(_) => panic!("{instruction} loads"),
        Err(error) => assert!(error.to_string().contains(why), "{error}"),
    }
}

#[test]
fn what_is_not_emulated_is_refused_by_name() {
    let a_and_b = "{%r0, %r1, %r2, %r3}, %d0, %d1, 1";
    let integers = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8";
    refused("sm_90a", &format!("{integers} {a_and_b};"), "`wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8`");
    let sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16";
    refused("sm_90a", &format!("{sparse} {a_and_b}, 1, 1, 0, 0;"), "`wgmma.mma_async.sp");
    let product = format!("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {a_and_b}");
    refused("sm_90a", &format!("{product}, 1, 1, 0;"), "takes 4 numbers");
    refused("sm_90a", &format!("{product}, 1, 2, 0, 0;"), "scaled by 1 or -1");
    refused("sm_90", &format!("{product}, 1, 1, 0, 0;"), "needs `.target sm_90a`");
    refused("sm_90", "wgmma.fence.sync.aligned;", "needs `.target sm_90a`");
}

#[test]
fn products_are_those_of_hardware_with_checks_and_without() {
    let hardware: BTreeMap<&str, &str> = ANSWERS.lines().filter_map(|line| line.rsplit_once(": ")).collect();
    let gpu = Gpu::default();
    let module = Module::load(&gpu.memory, &module(), None).expect("it loads");
    let list = cases();
    assert_eq!(hardware.len(), list.len());
    let mut wrong = Vec::new();
    for case in &list {
        assert!(end(case) as usize <= IMAGE_BYTES, "{}", case.name);
        let theirs = hardware.get(case.name.as_str());
        for level in [CheckLevel::Off, CheckLevel::Checked] {
            let ours = run(&gpu, &module, case, level).map(|words| format!("{:016x}", hash(&words)));
            if ours.as_deref().ok() != theirs.copied() {
                wrong.push(format!("{} ({level:?}): {ours:?}, hardware {theirs:?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), list.len(), wrong.join("\n"));
}
