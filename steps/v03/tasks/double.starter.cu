// v03.double, a transfer task of 35 minutes: FP64, 4 × 4 elements per thread.
//
// The product in FP64: a block of 256 threads owns 64 x 64 elements of C and walks along K in steps
// of 8; a thread owns 4 x 4.
//
// Judged: right on every shape with all checks clean; at most 1.5 words of shared memory per
// multiply-add (a double is two words, so 4 x 4 elements need 1); at most 0.3125 sectors of global
// loads per multiply-add of a warp.
//
// What is missing is marked TODO. Check it with: cargo xtask check v03.double
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;            // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS)
dgemm_tiles(int M, int N, int K, const double* A, const double* B, double* C)
{
    __shared__ double a_tile[BM][BK];
    __shared__ double b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN

    // TODO(v03): say where in a_tile and b_tile this thread starts to load

    double acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v03): fill a_tile and b_tile together, wait, add this thread's products to acc, wait again
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
}
