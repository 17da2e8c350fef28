// The tiles arrive by asynchronous copies of 16 bytes; where rows do not start on 16 bytes, by single loads.
#include "common.cuh"
constexpr int BM = 128, BN = 128, BK = 8;

__device__ __forceinline__ void fetch(float* to, const float* X, int rows, int cols, int row, int col)
{
    if (row < rows && col < cols && cols % WIDTH == 0) {
        const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(X + row * cols + col) : "memory");
    } else {
        for (int i = 0; i < WIDTH; ++i) to[i] = load_or_zero(X, rows, cols, row, col + i);
    }
}

extern "C" __global__ void __launch_bounds__(256)
sgemm_v04_float4(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BM][BK], b_tile[BK][BN];
    const int t = threadIdx.x, block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int row = t / 16 * 8, col = t % 16 * 4;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        fetch(&a_tile[t / 2][t % 2 * 4], A, M, K, block_row + t / 2, k0 + t % 2 * 4);
        fetch(&b_tile[t / 32][t % 32 * 4], B, K, N, k0 + t / 32, block_col + t % 32 * 4);
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                #pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += a_tile[row + i][k] * b_tile[k][col + j % 4 + j / 4 * 64];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int j = 0; j < 8; j += 4) {
            const float4 c = {acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]};
            store4_if_inside(C, M, N, block_row + row + i, block_col + col + j / 4 * 64, c);
        }
    }
}
