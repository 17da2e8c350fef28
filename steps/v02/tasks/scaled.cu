// v02.scaled: C = alpha * A * B + beta * C, with tiles in shared memory.
//
// Where beta is 0, C is not read: what it holds then may be anything, and NaN * 0 is NaN.
// Any M, N, K. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 16;  // edge of the tiles, and of the square of C owned by one block

// ANCHOR: kernel
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
        // SOLUTION(v02): load an element of each tile, wait, add the products of a row and a column, wait again
        a_tile[thread_row][thread_col] = load_or_zero(A, M, K, row, k0 + thread_col);  // A[row][k0 + ..]
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, col);  // B[k0 + ..][col]
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[thread_row][k]   // one address per row of threads
                 * b_tile[k][thread_col];  // neighbours
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
        // SOLUTION_END
    }
    // SOLUTION(v02): store alpha * acc + beta * C, and do not read C where beta is 0
    if (row >= M || col >= N) return;  // safe: no barrier follows
    const float old = beta == 0 ? 0 : C[row * N + col];
    C[row * N + col] = alpha * acc + beta * old;
    // STARTER| store_if_inside(C, M, N, row, col, acc);
    // SOLUTION_END
}
// ANCHOR_END: kernel
