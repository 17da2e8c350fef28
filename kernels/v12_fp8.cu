// v12_fp8.cu: products of FP8 (e4m3), by warpgroups, with sums that leave the unit in time.
//
// Changed since v12_tf32: numbers have 8 bits, and a step is 128 k, four products of 32. Of the terms of such a sum the
// unit keeps 13 bits below the highest of the largest. `fp8_fast` leaves all sums to it. `fp8` does not: products of a
// step begin at zero, and their sums are added to the others in FP32, rounded. That doubles the registers of a thread:
// tiles of C have 192 columns, in both kernels, and the warps that copy give registers away, as in ping_pong_192.
// Unchanged: B as N x K, clusters, the ring, the order of tiles, boxes of C.
// Any M; K is a multiple of 16, and N of 8. Boxes: 128 x 128 of A, 128 x 96 of B, 64 x 64 of C of bf16 or 32 x 64 of
// float, swizzle of 128 bytes.
// Launch: 384 threads, 288 of `fp8_fast`; an even number of blocks: as many as multiprocessors, or two for each pair of
// tiles if these are fewer; shared memory as the launch says.
// arch: compute_90a
#include "v12_blocks.cuh"
#include "v12_promote.cuh"

// ANCHOR: kernel
using T = Tiles<128, 192, 4, 8 * BOX_OF_C, E4m3>;  // of C; pairs of tiles; bytes of boxes of C

struct Promote {
    static constexpr int COPIERS = GROUP;  // who give registers

    static __device__ __forceinline__ void sum(float (&sums)[T::SUMS], Ring<T, T::STAGES>& ring, int steps)
    {
        promote_steps<T>(sums, ring, steps);
    }
};

// Name; type of C; who makes sums.
#define FP8(NAME, OUT, SUMS)                                                                                          \
    extern "C" __global__ void __launch_bounds__(T::MULTIPLIERS + SUMS::COPIERS, 1) __cluster_dims__(CLUSTER, 1, 1)   \
    gemm_v12_##NAME(int M, int N, int K, float alpha, const __grid_constant__ TensorMap a_map,                        \
                    const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap c_map)                 \
    {                                                                                                                 \
        multiply_blocks<T, OUT, SUMS>(M, N, K, alpha, a_map, b_map, c_map);                                           \
    }

FP8(fp8_fast_f32, float, OnUnit<T>)
FP8(fp8_fast_bf16, Bf16, OnUnit<T>)
FP8(fp8_f32, float, Promote)
FP8(fp8_bf16, Bf16, Promote)
// ANCHOR_END: kernel
