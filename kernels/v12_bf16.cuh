// v12_bf16.cuh: numbers of 16 bits (bf16: the upper half of a float), and how sums become C.
#pragma once
#include "common.cuh"

using Bf16 = unsigned short;
constexpr int BF16_WIDTH = 8;  // numbers in 16 bytes

// ANCHOR: pair
// Two sums as bf16 in one word, rounded to nearest even: `low` is the one at the lower address.
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ __forceinline__ void store2(float* to, float first, float second)
{
    *reinterpret_cast<float2*>(to) = make_float2(first, second);
}

__device__ __forceinline__ void store2(Bf16* to, float first, float second)
{
    *reinterpret_cast<unsigned*>(to) = pack(first, second);
}

__device__ __forceinline__ void store1(float* to, float v) { *to = v; }
__device__ __forceinline__ void store1(Bf16* to, float v) { *to = static_cast<Bf16>(pack(v, 0.0f)); }

// C[row][col], C[row][col + 1] = first, second, as far as that lies inside. `col` is even.
// EVEN: N is, and all pairs lie on a multiple of their size.
template <bool EVEN, typename Out>
__device__ __forceinline__ void store2_if_inside(Out* C, int M, int N, int row, int col, float first, float second)
{
    if (row >= M || col >= N) return;
    Out* to = &C[row * N + col];
    if constexpr (EVEN) {
        store2(to, first, second);
    } else {
        store1(to, first);
        if (col + 1 < N) store1(to + 1, second);
    }
}
// ANCHOR_END: pair

// ANCHOR: sums
// Sums of 8 columns as the tensor cores leave them, mma and wgmma alike: a lane has two neighbours in row `lane / 4`,
// and two in the row 8 further down. C = alpha * acc for the 8 * (COUNT / 4) columns from `col` on.
template <bool EVEN, typename Out, int COUNT>
__device__ __forceinline__ void store_sums(Out* C, int M, int N, int row, int col, float alpha,
                                           const float (&acc)[COUNT])
{
    const int lane = threadIdx.x % WARP_SIZE;
    #pragma unroll
    for (int i = 0; i < COUNT; i += 2) {
        const int r = row + lane / 4 + i / 2 % 2 * 8, c = col + i / 4 * 8 + lane % 4 * 2;
        store2_if_inside<EVEN>(C, M, N, r, c, alpha * acc[i], alpha * acc[i + 1]);
    }
}
// ANCHOR_END: sums
