// v03.rect: a block owns 64 rows and 128 columns of C, a thread 4 rows and 8 columns.
//
// The tiles of A and B differ in size: a thread loads 2 elements of one and 4 of the other.
// Expect: per k a thread reads 12 words for 32 multiply-adds.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 8;             // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;  // and columns: thread_col .. + TN

    const int a_row = thread / BK;  // where in a_tile this thread starts to load
    const int a_col = thread % BK;
    const int b_row = thread / BN;  // and where in b_tile
    const int b_col = thread % BN;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
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
