// v05.wide: no excess wavefronts with a tile of 64 x 128 and 16 deep.
//
// A warp stores 8 rows of 4 float4 each to a_tile, which is transposed: the float4 lie 4 rows of a_tile apart.
// With PAD = 4, as in v05, two of the four meet in a bank. Four groups of 8 rows fit side by side when
// 4 * (BM + PAD) % 32 == 8, so PAD is 2. Rows of a_tile then start on 8 bytes, no longer on 16.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 128, BK = 16;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 2;                          // floats after each row of a_tile
constexpr int B_ROWS = THREADS / (BN / WIDTH);  // rows of b_tile that the block loads at once
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK % B_ROWS == 0, "the block loads whole rows of b_tile");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_wide(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;  // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN);       // and columns: thread_col, + BN / TN, ...

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile its first one
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
        a_tile[a_col + 0][a_row] = a.x;
        a_tile[a_col + 1][a_row] = a.y;
        a_tile[a_col + 2][a_row] = a.z;
        a_tile[a_col + 3][a_row] = a.w;
        #pragma unroll
        for (int i = 0; i < BK; i += B_ROWS) {
            store4(&b_tile[b_row + i][b_col], load4_or_zero(B, K, N, k0 + b_row + i, block_col + b_col));
        }
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
            const int col = block_col + thread_col + j * (BN / TN);
            store_if_inside(C, M, N, block_row + thread_row + i, col, acc[i][j]);
        }
    }
}
// ANCHOR_END: kernel
