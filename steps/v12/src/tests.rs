use super::*;

#[test]
fn kernels_are_those_of_the_catalogue() {
    harness::declared::agrees("v12", &kernels());
}

#[test]
fn sums_of_c_are_those_on_record() {
    let sums = harness::sums::agree("v12", &kernels());
    // Kernels with all tiles and all ways to copy give the same C, where they add up in the order of k.
    let others = ["split", "six", "tf32", "fp8"];
    let in_order = |kernel: &str| !others.iter().any(|word| kernel.contains(word));
    for sum in sums.iter().filter(|sum| in_order(&sum.kernel)) {
        let format = sum.kernel.rsplit('_').next().unwrap_or_default();
        let plain = format!("gemm_v12_mma_ring_{format}");
        let same = sums.iter().find(|one| one.kernel == plain && one.shape == sum.shape);
        let same = same.expect("mma_ring takes any shape");
        assert_eq!(sum.c_sha256, same.c_sha256, "{} on {}", sum.kernel, sum.shape);
    }
}
