// v04, a rebuild task of 40 minutes: sixteen bytes per lane on every trip to global memory.
//
// Every access to global memory moves 16 bytes per lane. Write how the tiles are loaded and how C
// is stored, roughly 13 lines. `load4_or_zero` and `store4_if_inside` of common.cuh take the same
// arguments as `load_or_zero(X, rows, cols, row, col)` and `store_if_inside(X, rows, cols, row,
// col, v)`.
//
// What is missing is marked TODO. Check it with: cargo xtask check v04
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v04_float4(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BM][BK];
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * TN;     // and columns: thread_col .. + TN

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v04): load one float4 of A and one of B, store each to its tile as a float4, then wait

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

    // TODO(v04): store this thread's tile of C, four neighbouring columns at a time
}
