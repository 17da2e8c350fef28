#include "common.cuh"

using Bf16 = unsigned short;

__device__ float number(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x) << 16); }

// Four elements by each lane, by multiply-adds.
extern "C" __global__ void __launch_bounds__(32)
bf16gemm_place(int M, int N, int K, const Bf16* A, const Bf16* B, float* C)
{
    const int row = blockIdx.y * 16 + threadIdx.x / 8, col = blockIdx.x * 8 + threadIdx.x % 8;
    float acc[4] = {};
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 4; ++i)
            acc[i] += number(load_or_zero(A, M, K, row + i * 4, k)) * number(load_or_zero(B, K, N, k, col));
    for (int i = 0; i < 4; ++i) store_if_inside(C, M, N, row + i * 4, col, acc[i]);
}
