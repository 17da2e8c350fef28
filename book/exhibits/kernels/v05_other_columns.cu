// v05_other_columns.cu: a wrong kernel. v05 that stores to other columns than it multiplied.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// ANCHOR: kernel
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
        a_tile[a_col + 0][a_row] = a.x;
        a_tile[a_col + 1][a_row] = a.y;
        a_tile[a_col + 2][a_row] = a.z;
        a_tile[a_col + 3][a_row] = a.w;
        store4(&b_tile[b_row][b_col], b);
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    acc[i][j] += a_tile[k][thread_row + i] * b_tile[k][thread_col + j * (BN / TN)];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int col = block_col + thread_col * TN + j;
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
}
// ANCHOR_END: kernel
