use super::*;
use crate::device::session::load;

const PTX: &str = include_str!("../../../../../kernels/ptx/v01_col_per_lane.ptx");

#[test]
fn a_kernel_runs_and_the_emulated_gpu_is_no_real_one() {
    emulator_client::preload().expect("Cargo built the library");
    let gpu = Gpu::open().expect("the emulated device is always there");
    let kernel = load(&gpu, PTX, "sgemm_v01_col_per_lane").expect("a kernel of the file");
    let config = Config { grid_dim: (1, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 };
    let inputs = [[1.0f32, 2.0], [3.0, 4.0]].map(|values| values.map(f32::to_le_bytes).concat());
    let sizes = [1, 1, 2].map(Argument::Int);
    let matrices = [0, 1, 2].map(Argument::Buffer);
    let got = run(&gpu, &kernel, config, &inputs, &[0.0f32], &[sizes, matrices].concat());
    assert_eq!(got.expect("a result"), [11.0]);
    let why = check_is_real(gpu.emulator).expect_err("it is emulated");
    assert_eq!(why.to_string(), "the CUDA driver of this machine is the emulated GPU");
}
