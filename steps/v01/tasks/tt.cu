// v01.tt: C = A * B where A and B are both stored transposed; neighbouring lanes own neighbouring rows.
//
// A is stored as K x M and B as N x K, so A[row][k] of 32 neighbouring rows lies side by side and B[k][col] of
// 32 neighbouring columns lies K floats apart. Expect: one warp-wide load touches 4 sectors of A and 1 of B.
// The store of C touches 32 sectors, but once per thread and not once per k.
// Any M, N, K. Launch: THREADS threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 32;  // edge of the square of C owned by one block
constexpr int THREADS = BLOCK * BLOCK;
static_assert(BLOCK == WARP_SIZE, "one warp must span exactly one column");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_tt(int M, int N, int K, const float* A, const float* B, float* C)
{
    const int row = blockIdx.y * BLOCK + threadIdx.x % BLOCK;  // lane i -> first row + i
    const int col = blockIdx.x * BLOCK + threadIdx.x / BLOCK;  // same for all 32 lanes
    if (row >= M || col >= N) return;  // safe: no barrier follows

    float acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[k * M + row]   // A[row][k]: 32 neighbours per warp
             * B[col * K + k];  // B[k][col]: one address per warp
    }
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
