// v02_one_barrier.cu: a wrong kernel. v02 without the barrier after the products.
#include "common.cuh"

// ANCHOR: kernel
template <typename T, int BLOCK>
__device__ __forceinline__ void gemm(int M, int N, int K, const T* A, const T* B, T* C)
{
    __shared__ T a_tile[BLOCK][BLOCK];
    __shared__ T b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    T acc = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        a_tile[thread_row][thread_col] = load_or_zero(A, M, K, row, k0 + thread_col);  // A[row][k0 + ..]
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, col);  // B[k0 + ..][col]
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[thread_row][k]   // one address per row of threads
                 * b_tile[k][thread_col];  // neighbours
        }
    }
    store_if_inside(C, M, N, row, col, acc);
}

extern "C" __global__ void __launch_bounds__(16 * 16)
sgemm_v02_tile16(int M, int N, int K, const float* A, const float* B, float* C)
{
    gemm<float, 16>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(32 * 32)
sgemm_v02_tile32(int M, int N, int K, const float* A, const float* B, float* C)
{
    gemm<float, 32>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
