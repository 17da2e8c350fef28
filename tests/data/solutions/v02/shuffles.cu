// Only B is shared through memory; a warp keeps its row of A in registers and hands it out by shuffles.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024)
sgemm_v02_tile32(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float b_tile[32][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.y * 32 + warp, col = blockIdx.x * 32 + lane;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        const float a = load_or_zero(A, M, K, row, k0 + lane);
        b_tile[warp][lane] = load_or_zero(B, K, N, k0 + warp, col);
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += __shfl_sync(~0u, a, k) * b_tile[k][lane];
        __syncthreads();
    }
    store_if_inside(C, M, N, row, col, sum);
}
