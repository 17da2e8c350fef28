// v02_shared.cu: a block brings tiles of A and B to shared memory, and its threads read them there.
//
// Changed since col_per_lane: an element of A or B is loaded once per block, not once per thread.
// Unchanged: one thread per element of C, and who owns which. Expect: global load requests fall by the tile's
// edge. Past the edges the tiles hold zeros, so that every thread loads something and reaches the barriers.
// The diff is longer than a screen because the tile's edge becomes a parameter, with an entry for each.
// Any M, N, K. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK of C; BLOCK is in the name.
#include "common.cuh"

// ANCHOR: kernel
template <typename T, int BLOCK>
__device__ __forceinline__ void gemm(int M, int N, int K, const T* A, const T* B, T* C)
{
    __shared__ T a_tile[BLOCK][BLOCK];
    __shared__ T b_tile[BLOCK][BLOCK];

    // ANCHOR: map
    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;
    // ANCHOR_END: map

    T acc = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        // SOLUTION(v02): load an element of each tile, wait, add the products of a row and a column, wait again
        // ANCHOR: load
        a_tile[thread_row][thread_col] = load_or_zero(A, M, K, row, k0 + thread_col);  // A[row][k0 + ..]
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, col);  // B[k0 + ..][col]
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load

        // ANCHOR: compute
        #pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[thread_row][k]   // one address per row of threads
                 * b_tile[k][thread_col];  // neighbours
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
        // ANCHOR_END: compute
        // SOLUTION_END
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

extern "C" __global__ void __launch_bounds__(16 * 16)
dgemm_v02_tile16(int M, int N, int K, const double* A, const double* B, double* C)
{
    gemm<double, 16>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(32 * 32)
dgemm_v02_tile32(int M, int N, int K, const double* A, const double* B, double* C)
{
    gemm<double, 32>(M, N, K, A, B, C);
}
