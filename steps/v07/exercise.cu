// v07, a rebuild task of 50 minutes: load the next tile while computing on this one.
//
// While a block multiplies one pair of tiles, the next pair is on its way. Write the stores, the
// one barrier and the loads of a round, roughly 8 lines.
//
// What is missing is marked TODO. Check it with: cargo xtask check v07
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");
static_assert(BK % 2 == 0, "the last k of a tile and the first of the next use different fragments");
static_assert(TM == 2 * WIDTH && TN == 2 * WIDTH, "a fragment is two float4s");

// acc += a_frag * b_frag: 64 multiply-adds for 16 words. Odd rows run backwards, so that each multiply-add
// shares an operand with the one before, and asks the register file for less.
__device__ __forceinline__ void add_outer_product(float (&acc)[TM][TN], const float (&a_frag)[TM],
                                                  const float (&b_frag)[TN])
{
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int step = 0; step < TN; ++step) {
            const int j = i % 2 == 0 ? step : TN - 1 - step;
            acc[i][j] += a_frag[i] * b_frag[j];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v07_double_buffer(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD];  // transposed: a_tile[buffer][k][row]
    __shared__ __align__(16) float b_tile[2][BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 further

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float4 a_next = load4_or_zero(A, M, K, block_row + a_row, a_col);
    float4 b_next = load4_or_zero(B, K, N, b_row, block_col + b_col);

    __align__(16) float a_frag[2][TM] = {}, b_frag[2][TN] = {};  // zeros: the first product adds nothing
    float acc[TM][TN] = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v07): store the waiting tiles to this buffer, wait for the others, and load the next tiles

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            store4(&a_frag[k % 2][0], load4(&a_tile[buffer][k][thread_row]));
            store4(&a_frag[k % 2][WIDTH], load4(&a_tile[buffer][k][thread_row + WIDTH]));
            store4(&b_frag[k % 2][0], load4(&b_tile[buffer][k][thread_col]));
            store4(&b_frag[k % 2][WIDTH], load4(&b_tile[buffer][k][thread_col + BN / 2]));
            add_outer_product(acc, a_frag[(k + 1) % 2], b_frag[(k + 1) % 2]);  // of k - 1
        }
        buffer ^= 1;
    }

    add_outer_product(acc, a_frag[(BK - 1) % 2], b_frag[(BK - 1) % 2]);  // of the last k

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
