// v03.double: the product in FP64, with a 4 x 4 tile of C per thread.
//
// A double takes two registers and two words of shared memory, so the tiles of C are a quarter of v03's:
// 64 x 64 per block, 4 x 4 per thread. Expect: per k a thread reads 8 doubles for 16 multiply-adds.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 4;            // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

// ANCHOR: kernel
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

    // SOLUTION(v03): say where in a_tile and b_tile this thread starts to load
    const int a_row = thread / BK;
    const int a_col = thread % BK;
    const int b_row = thread / BN;
    const int b_col = thread % BN;
    // SOLUTION_END

    double acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // SOLUTION(v03): fill a_tile and b_tile together, wait, add this thread's products to acc, wait again
        #pragma unroll
        for (int i = 0; i < BM; i += THREADS / BK) {
            a_tile[a_row + i][a_col] = load_or_zero(A, M, K, block_row + a_row + i, k0 + a_col);
        }
        #pragma unroll
        for (int i = 0; i < BK; i += THREADS / BN) {
            b_tile[b_row + i][b_col] = load_or_zero(B, K, N, k0 + b_row + i, block_col + b_col);
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    acc[i][j] += a_tile[thread_row + i][k] * b_tile[k][thread_col + j];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
        // SOLUTION_END
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
}
// ANCHOR_END: kernel
