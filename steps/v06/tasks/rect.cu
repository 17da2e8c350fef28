// v06.rect: 128-bit fragments where a thread owns 4 rows and 8 columns.
//
// Per k a thread loads one float4 of A and two of B and makes 32 multiply-adds of them. The tile of C is
// 64 x 128 and the tiles are 8 deep, so only half of the threads load a float4 of A.
// Expect: 3 shared loads per 32 multiply-adds, and no excess wavefronts.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 64, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 4, TN = 8;             // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile
static_assert(BM * BK <= THREADS * WIDTH, "a thread loads at most one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");
static_assert(TM == WIDTH && TN == 2 * WIDTH, "fragments are one float4 and two");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + 4
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 further

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes, if a_row < BM
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (a_row < BM) {
            const float4 a = load4_or_zero(A, M, K, block_row + a_row, k0 + a_col);
            a_tile[a_col + 0][a_row] = a.x;
            a_tile[a_col + 1][a_row] = a.y;
            a_tile[a_col + 2][a_row] = a.z;
            a_tile[a_col + 3][a_row] = a.w;
        }
        store4(&b_tile[b_row][b_col], load4_or_zero(B, K, N, k0 + b_row, block_col + b_col));
        __syncthreads();  // writes to a_tile and b_tile done -> reads may start

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            store4(&a_frag[0], load4(&a_tile[k][thread_row]));
            store4(&b_frag[0], load4(&b_tile[k][thread_col]));
            store4(&b_frag[WIDTH], load4(&b_tile[k][thread_col + BN / 2]));
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int col = block_col + thread_col + j / WIDTH * (BN / 2);
            const float4 c = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + thread_row + i, col, c);
        }
    }
}
// ANCHOR_END: kernel
