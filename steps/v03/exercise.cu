// v03, a rebuild task of 45 minutes: a tile of C per thread, accumulated in registers.
//
// A thread owns 8 x 8 elements of C in registers. Write how the block fills its tiles and how a
// thread multiplies, roughly 18 lines. `load_or_zero(X, rows, cols, row, col)` of common.cuh gives
// X[row][col], or 0 outside of X.
//
// What is missing is marked TODO. Check it with: cargo xtask check v03
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v03_from_shared(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;     // and columns: thread_col .. + TN

    const int a_row = thread / BK;  // where in a_tile this thread starts to load
    const int a_col = thread % BK;
    const int b_row = thread / BN;  // and where in b_tile
    const int b_col = thread % BN;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v03): load a_tile and b_tile together with the other threads, then wait for them

        // TODO(v03): add the products of this thread's rows and columns to acc, then wait
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
}
