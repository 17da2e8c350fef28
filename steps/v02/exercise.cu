// v02, a rebuild task of 45 minutes: a block shares a tile of A and of B through shared memory.
//
// A block brings tiles of A and B to shared memory, and its threads read them there. Write one
// round of the loop over tiles, roughly 10 lines. `load_or_zero(X, rows, cols, row, col)` of
// common.cuh gives X[row][col], or 0 outside of X.
//
// What is missing is marked TODO. Check it with: cargo xtask check v02
//
// Any M, N, K. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK of C; BLOCK is in the name.
#include "common.cuh"

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
        // TODO(v02): load an element of each tile, wait, add the products of a row and a column, wait again
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
