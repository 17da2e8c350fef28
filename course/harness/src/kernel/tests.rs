use super::*;

fn geometry(shape: Shape) -> LaunchConfig {
    grid_of_tiles(shape, [128, 64], 256)
}

#[test]
fn the_grid_tells_the_tile() {
    let code = KernelSource { text: "", ptx: "", cubin: &[], rust: None };
    let kernel = Kernel::sgemm("any", code, geometry, |_| Ok(()));
    assert_eq!(kernel.tile(), Some([128, 64]));
}

#[test]
fn a_tiled_kernel_is_launched_by_the_constants_of_its_source() {
    const CODE: KernelSource = KernelSource {
        text: "constexpr int BM = 128, BN = 64;\nconstexpr int THREADS = BM * BN / 64;\n",
        ptx: "",
        cubin: &[],
        rust: None,
    };
    const KERNEL: Kernel = Kernel::tiled("any", CODE);
    let config = KERNEL.config(Shape { m: 129, n: 64, k: 1 }).expect("a kernel");
    assert_eq!((config.grid_dim, config.block_dim), ((1, 2, 1), (128, 1, 1)));
    assert_eq!(KERNEL.tile(), Some([128, 64]));
}

#[test]
fn a_part_of_a_tile_is_a_block() {
    assert_eq!(blocks(128, 128), 1);
    assert_eq!(blocks(129, 128), 2);
    assert_eq!(blocks(usize::MAX, 1), u32::MAX);
}
