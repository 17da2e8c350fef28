// v01_row_per_lane.cu: one thread per element of C; neighbouring lanes own neighbouring rows.
//
// Expect: one warp-wide load touches 32 sectors of A (32 rows, K floats apart) and 1 of B; the store of C
// touches 32. Any M, N, K. Launch: THREADS threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 32;  // edge of the square of C owned by one block
constexpr int THREADS = BLOCK * BLOCK;
static_assert(BLOCK == WARP_SIZE, "one warp must span exactly one column");

// ANCHOR: kernel
template <typename T>
__device__ __forceinline__ void gemm(int M, int N, int K, const T* A, const T* B, T* C)
{
    // ANCHOR: map
    const int row = blockIdx.y * BLOCK + threadIdx.x % BLOCK;  // lane i -> first row + i
    const int col = blockIdx.x * BLOCK + threadIdx.x / BLOCK;  // same for all 32 lanes
    // ANCHOR_END: map
    if (row >= M || col >= N) return;  // safe: no barrier follows

    // ANCHOR: compute
    T acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k]   // A[row][k]: 32 rows per warp
             * B[k * N + col];  // B[k][col]: one address per warp
    }
    // ANCHOR_END: compute
    C[row * N + col] = acc;
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_v01_row_per_lane(int M, int N, int K, const float* A, const float* B, float* C)
{
    gemm(M, N, K, A, B, C);
}
// ANCHOR_END: kernel

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_v01_row_per_lane(int M, int N, int K, const double* A, const double* B, double* C)
{
    gemm(M, N, K, A, B, C);
}
