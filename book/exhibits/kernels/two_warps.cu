// two_warps.cu: v02 with tiles of 8 x 8, so that a block is two warps. The book replays them.
#include "common.cuh"

// ANCHOR: kernel
constexpr int BLOCK = 8;

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
sgemm_v02_tile8(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        a_tile[thread_row][thread_col] = load_or_zero(A, M, K, row, k0 + thread_col);  // A[row][k0 + ..]
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, col);  // B[k0 + ..][col]
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[thread_row][k]   // one address per row of threads
                 * b_tile[k][thread_col];  // neighbours
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }
    store_if_inside(C, M, N, row, col, acc);
}
// ANCHOR_END: kernel
