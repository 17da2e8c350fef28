// v12_store.cu: C leaves as boxes.
//
// Changed since v12_multicast: how sums are stored. Straight from registers, a warp writes 8 rows at a time, 32 bytes
// of each, or 16 of bf16: many small pieces, and guards. Now each warpgroup puts 64 rows of 128 bytes to shared memory
// (of bf16 by stmatrix) and one thread starts a copy, which stops at the edges. The next box is filled meanwhile.
// Unchanged: clusters, the ring, the order of tiles.
// Any M; N and K are multiples of 8. Boxes: 64 x 128 of A, 64 x 32 of B, 64 x 64 of C of bf16 or 32 x 64 of float,
// swizzle of 128 bytes. `store`: 256 columns of C. `store_192`: 192, where that fills the multiprocessors better: of a
// product of 3072, 384 tiles in place of 288, for 132.
// Launch: THREADS threads, an even number of blocks: as many as multiprocessors, or two for each pair of tiles if these
// are fewer; shared memory as the launch says.
// arch: compute_90a
#include "v12_blocks.cuh"

// ANCHOR: kernel
using Wide = Tiles<128, 256, 4, 4 * BOX_OF_C>;  // of C; pairs of tiles; bytes of boxes of C
using Narrow = Tiles<128, 192, 4, 8 * BOX_OF_C>;
constexpr int THREADS = Wide::MULTIPLIERS + PRODUCERS;

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_store_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    multiply_blocks<Wide, float>(M, N, K, alpha, a_map, b_map, c_map);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_store_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                    const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    multiply_blocks<Wide, Bf16>(M, N, K, alpha, a_map, b_map, c_map);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_store_192_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                       const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    multiply_blocks<Narrow, float>(M, N, K, alpha, a_map, b_map, c_map);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_store_192_bf16(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    multiply_blocks<Narrow, Bf16>(M, N, K, alpha, a_map, b_map, c_map);
}
// ANCHOR_END: kernel
