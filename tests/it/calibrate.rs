//! `kernels/calibrate*.cu` as machine code for sm_90: whether each round is what it is meant to be, and nothing else.

use tests::recorded::cubin;

const OPS: usize = 64;
/// Asserts that the longest loop of a kernel has OPS instructions `wanted`, and few others: of arithmetic those of the
/// loop alone, beside accesses also copies, which another unit does in less time.
#[track_caller]
fn check(kernel: &str, wanted: &str, others: usize) {
    check_of("calibrate", kernel, OPS, wanted, others);
}

#[track_caller]
fn check_of(module: &str, kernel: &str, ops: usize, wanted: &str, others: usize) {
    let module = sass::Module::read(&cubin(module)).expect("it is a cubin");
    let kernel = module.kernels.iter().find(|one| one.name == kernel);
    let code = &kernel.expect("it is there").instructions;
    let round = code
        .iter()
        .filter_map(|jump| {
            let start = u32::try_from(jump.label()?).ok()?;
            (start < jump.address).then_some(start..=jump.address)
        })
        .max_by_key(|range| range.end() - range.start())
        .expect("it has a loop");
    let inside: Vec<String> =
        code.iter().filter(|instruction| round.contains(&instruction.address)).map(ToString::to_string).collect();
    let count = |word: &str| {
        let is = |text: &&String| text.split(' ').next() == Some(word);
        inside.iter().filter(is).count()
    };
    assert_eq!(count(wanted), ops, "{wanted} in {inside:#?}");
    assert!(inside.len() - ops <= others, "{} in {inside:#?}", inside.len());
}

#[test]
fn arithmetic_is_repeated_alone() {
    check("cost_fma", "FFMA", 4);
    check("cost_double", "DFMA", 4);
    check("cost_integer_fma", "IMAD", 4);
    check("cost_alu", "LOP3.LUT", 4);
    check("cost_special", "MUFU.EX2", 4);
    check("cost_barrier", "BAR.SYNC.DEFER_BLOCKING", 4);
}

#[test]
fn accesses_have_their_width() {
    check("cost_load_shared_4", "LDS", 20);
    check("cost_load_shared_8", "LDS.64", 20);
    check("cost_load_shared_16", "LDS.128", 20);
    check("cost_store_shared_4", "STS", 20);
    check("cost_store_shared_8", "STS.64", 20);
    check("cost_store_shared_16", "STS.128", 20);
    check("cost_load_constant", "LDC", 20);
    check("cost_load_l1_4", "LDG.E", 20);
    check("cost_load_l1_8", "LDG.E.64", 20);
    // And one for each, which keeps the compiler from loading less.
    check("cost_load_l1_16", "LDG.E.128", OPS + 40);
}

#[test]
fn chases_need_no_arithmetic() {
    check("chase_shared_4", "LDS", 20);
    check("chase_shared_8", "LDS.64", 20);
    check("chase_shared_16", "LDS.128", 20);
    check("chase_constant", "LDC", 20);
    check("chase_l1_4", "LDG.E", 20);
    check("chase_l1_8", "LDG.E.64", 20);
    check("chase_l1_16", "LDG.E.128", OPS + 20);
    check("chase_l2", "LDG.E.64.STRONG.GPU", 20);
}

/// Between two products of a chain lie at most the instructions that move a descriptor on; none waits.
#[test]
fn products_form_chains() {
    check_of("calibrate_async", "products_bf16_64_shared_16", 16, "HGMMA.64x64x16.F32.BF16", 64);
    check_of("calibrate_async", "products_bf16_256_registers_16", 16, "HGMMA.64x256x16.F32.BF16", 64);
    check_of("calibrate_async", "products_tf32_256_shared_16", 16, "HGMMA.64x256x8.F32.TF32", 64);
    check_of("calibrate_async", "products_e4m3_256_shared_16", 16, "QGMMA.64x256x32.F32.E4M3.E4M3", 64);
}

#[test]
fn fragments_are_loaded_and_multiplied_alone() {
    check_of("calibrate_async", "mma_bf16", 16, "HMMA.16816.F32.BF16", 8);
    check_of("calibrate_async", "load_matrices_many", 16, "LDSM.16.M88.4", 24);
    check_of("calibrate_async", "store_matrices_many", 16, "STSM.16.M88.4", 40);
}
