// v01.upright, a transfer task of 20 minutes: A block that stands on end.
//
// The launch uses blocks of 8 x 32 threads: threadIdx.x runs from 0 to 7, threadIdx.y from 0 to 31.
// Such a block owns 8 rows and 32 columns of C.
//
// Judged: right on every shape, and at most 6 sectors of global loads for each multiply-add of a
// warp.
//
// What is missing is marked TODO. Check it with: cargo xtask check v01.upright
//
// Any M, N, K. Launch: BLOCK_X x BLOCK_Y threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BLOCK_X = 8, BLOCK_Y = 32;  // threads of a block
constexpr int BM = 8, BN = 32;            // tile of C owned by one block
static_assert(BM * BN == BLOCK_X * BLOCK_Y, "one thread per element of C");
static_assert(BN == WARP_SIZE, "one warp must span exactly one row");

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
sgemm_upright(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v01): let the 32 lanes of a warp own the 32 columns of one row of the tile
    const int row = blockIdx.y * BM + threadIdx.x;
    const int col = blockIdx.x * BN + threadIdx.y;
    if (row >= M || col >= N) return;  // safe: no barrier follows

    float acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k]   // A[row][k]
             * B[k * N + col];  // B[k][col]
    }
    C[row * N + col] = acc;
}
