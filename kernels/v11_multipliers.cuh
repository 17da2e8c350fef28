// v11_multipliers.cuh: the warps of a plan that multiply, without those that copy.
//
// The model of a GPU that predicts times has none for asynchronous copies. This kernel has none: its tiles are always
// there, and hold what lies in shared memory. C is no product; the loop is that of the plan
// without its waits for barriers, and so is the time, as long as copies are never late.
#pragma once
#include "v11_tile.cuh"

// ANCHOR: kernel
// `tiles` tiles of an M x N matrix, `steps` pairs of tiles of A and B each. STAGES: 2 are enough to go round.
template <typename T>
__device__ __forceinline__ void multiply_alone(int M, int N, int steps, int tiles, float alpha, float* C)
{
    constexpr int STAGES = 2;
    extern __shared__ __align__(1024) char shared[];
    const int tiles_n = (N + T::BN - 1) / T::BN;
    Multiplier<T> mine(threadIdx.x, shared_address(shared));
    int stage = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        mine.begin();
        mine.clear();
        for (int step = 0; step < steps; ++step) {
            mine.multiply(
                [&]() {
                    stage ^= 1;
                    return stage ? T::STAGE_BYTES : -T::STAGE_BYTES;
                },
                []() {});
        }
        float4 sums[T::OWN_ROWS][T::TN / WIDTH];
        float4* behind = reinterpret_cast<float4*>(shared + STAGES * T::STAGE_BYTES);
        mine.exchange(sums, behind, threadIdx.x, alpha, []() { __syncthreads(); });
        mine.store(C, M, N, tile / tiles_n * T::BM, tile % tiles_n * T::BN, sums);
    }
}
// ANCHOR_END: kernel

#define MULTIPLIERS(NAME, BLOCKS, ...)                                                                                \
    extern "C" __global__ void __launch_bounds__(Tile<__VA_ARGS__>::THREADS, BLOCKS)                                  \
    multipliers_v11_##NAME(int M, int N, int steps, int tiles, float alpha, float* C)                                 \
    {                                                                                                                 \
        multiply_alone<Tile<__VA_ARGS__>>(M, N, steps, tiles, alpha, C);                                              \
    }
