// v02.scaled, a transfer task of 45 minutes: C = αAB + βC.
//
// Multiply by way of shared tiles and finish with C = alpha * A * B + beta * C. A block of 256
// threads owns 16 x 16 elements of C. Where beta is 0, C must not be read: it may hold NaN then.
//
// Judged: right on every shape, for beta = 0 and for others; at most 0.625 sectors of global loads
// per multiply-add of a warp, the reading of C included; at most 2 barriers for 16 steps of k.
//
// What is missing is marked TODO. Check it with: cargo xtask check v02.scaled
//
// Any M, N, K. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 16;  // edge of the tiles, and of the square of C owned by one block

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
sgemm_scaled(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        // TODO(v02): load an element of each tile, wait, add the products of a row and a column, wait again
    }
    // TODO(v02): store alpha * acc + beta * C, and do not read C where beta is 0
    store_if_inside(C, M, N, row, col, acc);
}
