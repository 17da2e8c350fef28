use v11::plans::PLANS;

use super::*;

#[test]
fn a_broken_kernel_is_refused() {
    device::choose_driver(DeviceChoice::Emulated).expect("Cargo built it");
    let gpu = Gpu::open().expect("there is a device");
    let ptx = harness::code!("v11_gemm").ptx;
    let plan = PLANS.iter().find(|plan| plan.entry == "sgemm_v11_words_32x64x32");
    let plan = *plan.expect("it is in use");
    multiplies_right(&gpu, plan, Ptx::from_src(ptx)).expect("it is right");
    // alpha + sums in place of alpha * sums.
    let broken = ptx.replace("mul.f32", "add.f32");
    let error = multiplies_right(&gpu, plan, Ptx::from_src(broken)).expect_err("it is wrong");
    assert_eq!(error.to_string(), "37x67x67 is wrong");
}
