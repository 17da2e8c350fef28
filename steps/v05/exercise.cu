// v05, a rebuild task of 45 minutes: 32 banks, and no two lanes in one.
//
// No access to shared memory takes longer than it must. Store the tile of A transposed, choose its
// padding, and hand out the columns, roughly 7 lines.
//
// What is missing is marked TODO. Check it with: cargo xtask check v05
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
// TODO(v05): pad the rows of a_tile so that the lanes of a warp store to 32 different banks
constexpr int PAD = 0;  // floats after each row of a_tile
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v05_bank_conflict_free(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN);          // and columns: thread_col, + BN / TN, ...

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
        const float4 b = load4_or_zero(B, K, N, k0 + b_row, block_col + b_col);
        // TODO(v05): store the four elements of a to a_tile[k][row]
        store4(&b_tile[b_row][b_col], b);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    // TODO(v05): take columns BN / TN apart: lanes then read neighbouring words
                    acc[i][j] += a_tile[k][thread_row + i] * b_tile[k][thread_col * TN + j];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            // TODO(v05): say which column of C this is
            const int col = block_col + thread_col * TN + j;
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
}
