// 4 x 4 elements per thread in FP64, straight from global memory.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
dgemm_tiles(int M, int N, int K, const double* A, const double* B, double* C)
{
    const int row = blockIdx.y * 64 + threadIdx.x / 16 * 4, col = blockIdx.x * 64 + threadIdx.x % 16 * 4;
    double acc[4][4] = {};
    for (int k = 0; k < K; ++k) {
        double a[4], b[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            a[i] = load_or_zero(A, M, K, row + i, k);
            b[i] = load_or_zero(B, K, N, k, col + i);
        }
        #pragma unroll
        for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] += a[i / 4] * b[i % 4];
    }
    #pragma unroll
    for (int i = 0; i < 16; ++i) store_if_inside(C, M, N, row + i / 4, col + i % 4, acc[i / 4][i % 4]);
}
