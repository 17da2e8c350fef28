// v03_from_shared.cu: a thread owns a TM x TN tile of C in registers; its operands come from shared memory.
//
// Changed since from_global: the block shares its operands again, as in v02. The tiles have more elements
// than the block has threads, and another shape than C's, so loading has an index of its own: thread t brings
// in elements t, t + THREADS, ... Expect: per k a thread reads 16 words for 64 multiply-adds; v02 read 2 for 1.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(THREADS % BK == 0 && BM % (THREADS / BK) == 0, "the block loads whole rows of a_tile");
static_assert(THREADS % BN == 0 && BK % (THREADS / BN) == 0, "the block loads whole rows of b_tile");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v03_from_shared(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];

    // ANCHOR: map
    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;     // and columns: thread_col .. + TN

    const int a_row = thread / BK;  // where in a_tile this thread starts to load
    const int a_col = thread % BK;
    const int b_row = thread / BN;  // and where in b_tile
    const int b_col = thread % BN;
    // ANCHOR_END: map

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // SOLUTION(v03): load a_tile and b_tile together with the other threads, then wait for them
        // ANCHOR: load
        #pragma unroll
        for (int i = 0; i < BM; i += THREADS / BK) {
            a_tile[a_row + i][a_col] = load_or_zero(A, M, K, block_row + a_row + i, k0 + a_col);
        }
        #pragma unroll
        for (int i = 0; i < BK; i += THREADS / BN) {
            b_tile[b_row + i][b_col] = load_or_zero(B, K, N, k0 + b_row + i, block_col + b_col);
        }
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start
        // ANCHOR_END: load
        // SOLUTION_END

        // SOLUTION(v03): add the products of this thread's rows and columns to acc, then wait
        // ANCHOR: compute
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
        // ANCHOR_END: compute
        // SOLUTION_END
    }

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            store_if_inside(C, M, N, block_row + thread_row + i, block_col + thread_col + j, acc[i][j]);
        }
    }
    // ANCHOR_END: store
}
// ANCHOR_END: kernel
