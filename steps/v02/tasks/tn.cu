// v02.tn: tiles in shared memory, where A is stored transposed (column-major).
//
// A is stored as K x M: its rows run along M. A tile of it is loaded along those rows, so it arrives as
// a_tile[k][row], and only the reads of it change. Expect: the sectors of v02, 4 for each load of either tile.
// Any M, N, K. Launch: BLOCK * BLOCK threads, one block per BLOCK x BLOCK of C.
#include "common.cuh"

constexpr int BLOCK = 32;  // edge of the tiles, and of the square of C owned by one block

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
sgemm_tn(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];  // a_tile[k][row]
    __shared__ float b_tile[BLOCK][BLOCK];  // b_tile[k][col]

    const int thread_row = threadIdx.x / BLOCK;
    const int thread_col = threadIdx.x % BLOCK;
    const int block_row = blockIdx.y * BLOCK;
    const int block_col = blockIdx.x * BLOCK;

    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        // Both loads: a row of k for each warp, 32 neighbours for its lanes.
        a_tile[thread_row][thread_col] = load_or_zero(A, K, M, k0 + thread_row, block_row + thread_col);
        b_tile[thread_row][thread_col] = load_or_zero(B, K, N, k0 + thread_row, block_col + thread_col);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[k][thread_row]   // one address per row of threads
                 * b_tile[k][thread_col];  // neighbours
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }
    store_if_inside(C, M, N, block_row + thread_row, block_col + thread_col, acc);
}
// ANCHOR_END: kernel
