// v01, a rebuild task of 20 minutes: one thread per element; coalescing is who sits beside whom.
//
// Let the 32 lanes of a warp own 32 neighbouring columns of one row of C. Only the two lines that
// compute row and col are missing.
//
// What is missing is marked TODO. Check it with: cargo xtask check v01
//
// Any M, N, K. Launch: THREADS threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 32;  // edge of the square of C owned by one block
constexpr int THREADS = BLOCK * BLOCK;
static_assert(BLOCK == WARP_SIZE, "one warp must span exactly one row");

template <typename T>
__device__ __forceinline__ void gemm(int M, int N, int K, const T* A, const T* B, T* C)
{
    // TODO(v01): let the 32 lanes of a warp own 32 neighbouring columns of one row of C
    const int row = blockIdx.y * BLOCK + threadIdx.x % BLOCK;  // lane i -> first row + i
    const int col = blockIdx.x * BLOCK + threadIdx.x / BLOCK;  // same for all 32 lanes
    if (row >= M || col >= N) return;  // safe: no barrier follows

    T acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k]   // A[row][k]: one address for each row of the warp
             * B[k * N + col];  // B[k][col]: one address for each column of the warp
    }
    C[row * N + col] = acc;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v01_col_per_lane(int M, int N, int K, const float* A, const float* B, float* C)
{
    gemm(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_v01_col_per_lane(int M, int N, int K, const double* A, const double* B, double* C)
{
    gemm(M, N, K, A, B, C);
}
