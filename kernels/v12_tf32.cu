// v12_tf32.cu: products of TF32, by warpgroups.
//
// Changed since v12_store: numbers are FP32, and the unit multiplies them as TF32. It reads the upper 19 bits of each:
// the lowest 13 are ignored, which cuts a number and does not round it. Products take B only with neighbouring k side
// by side here, so B is N x K, row-major: C = alpha * A * B^T. A step is 32 k, four products of 8.
// Unchanged: clusters, the ring, the order of tiles, boxes of C.
// Any M; N and K are multiples of 4. Boxes: 32 x 128 of A, 32 x 128 of B, 32 x 64 of C, swizzle of 128 bytes.
// Launch: THREADS threads, an even number of blocks: as many as multiprocessors, or two for each pair of tiles if these
// are fewer; shared memory as the launch says.
// arch: compute_90a
#include "v12_blocks.cuh"

// ANCHOR: kernel
using T = Tiles<128, 256, 4, 4 * BOX_OF_C, float>;  // of C; pairs of tiles; bytes of boxes of C
constexpr int THREADS = T::MULTIPLIERS + PRODUCERS;

extern "C" __global__ void __launch_bounds__(THREADS, 1) __cluster_dims__(CLUSTER, 1, 1)
gemm_v12_tf32_f32(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,
                  const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)
{
    multiply_blocks<T, float>(M, N, K, alpha, a_map, b_map, c_map);
}
// ANCHOR_END: kernel
