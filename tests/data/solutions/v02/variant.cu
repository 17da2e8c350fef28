// v02.variant: tiles of any shape in shared memory, of operands that are stored in any way.
//
// An element of a tile has a number, and a thread loads those whose numbers are its own modulo THREADS. Numbers run
// along the rows of what is stored, so that neighbouring lanes load neighbours.
// Any M, N, K. Launch: BM * BN threads, one block per BM x BN of C.
#include "common.cuh"

// DRAWN
constexpr int BK = 16, BM = 16, BN = 64;
using Element = float;
constexpr bool A_TURNED = false, B_TURNED = false;
// DRAWN_END
constexpr int THREADS = BM * BN;

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_variant(int M, int N, int K, const Element* A, const Element* B, Element* C)
{
    __shared__ Element a_tile[BM][BK];
    __shared__ Element b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / BN;
    const int thread_col = thread % BN;

    Element acc = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int t = thread; t < BM * BK; t += THREADS) {
            const int row = A_TURNED ? t % BM : t / BK;
            const int k = A_TURNED ? t / BM : t % BK;
            a_tile[row][k] = A_TURNED ? load_or_zero(A, K, M, k0 + k, block_row + row)
                                      : load_or_zero(A, M, K, block_row + row, k0 + k);
        }
        for (int t = thread; t < BK * BN; t += THREADS) {
            const int col = B_TURNED ? t / BK : t % BN;
            const int k = B_TURNED ? t % BK : t / BN;
            b_tile[k][col] = B_TURNED ? load_or_zero(B, N, K, block_col + col, k0 + k)
                                      : load_or_zero(B, K, N, k0 + k, block_col + col);
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) acc += a_tile[thread_row][k] * b_tile[k][thread_col];
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }
    store_if_inside(C, M, N, block_row + thread_row, block_col + thread_col, acc);
}
