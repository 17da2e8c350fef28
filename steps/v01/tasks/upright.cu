// v01.upright: the block is 8 threads wide and 32 high, and its tile of C is 8 rows of 32 columns.
//
// A warp is 32 threads of consecutive numbers, and x runs fastest: 8 values of threadIdx.x, 4 of threadIdx.y.
// Expect, once the lanes own a row of 32 columns: 1 sector of A and 4 of B per warp-wide load.
// Any M, N, K. Launch: BLOCK_X x BLOCK_Y threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BLOCK_X = 8, BLOCK_Y = 32;  // threads of a block
constexpr int BM = 8, BN = 32;            // tile of C owned by one block
static_assert(BM * BN == BLOCK_X * BLOCK_Y, "one thread per element of C");
static_assert(BN == WARP_SIZE, "one warp must span exactly one row");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y)
sgemm_upright(int M, int N, int K, const float* A, const float* B, float* C)
{
    // SOLUTION(v01): let the 32 lanes of a warp own the 32 columns of one row of the tile
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;  // its number in the block: lane = thread % 32
    const int row = blockIdx.y * BM + thread / BN;           // same for all 32 lanes
    const int col = blockIdx.x * BN + thread % BN;           // lane i -> first column + i
    // STARTER| const int row = blockIdx.y * BM + threadIdx.x;
    // STARTER| const int col = blockIdx.x * BN + threadIdx.y;
    // SOLUTION_END
    if (row >= M || col >= N) return;  // safe: no barrier follows

    float acc = 0;
    for (int k = 0; k < K; ++k) {
        acc += A[row * K + k]   // A[row][k]
             * B[k * N + col];  // B[k][col]
    }
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
