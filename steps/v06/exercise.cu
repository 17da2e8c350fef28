// v06, a rebuild task of 40 minutes: fragments in registers, then a rank-1 update.
//
// A thread takes 8 words of A and 8 of B by four 128-bit loads and adds their outer product. Write
// both, roughly 11 lines.
//
// What is missing is marked TODO. Check it with: cargo xtask check v06
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");
static_assert(TM == 2 * WIDTH && TN == 2 * WIDTH, "a fragment is two float4s");

// acc += a_frag * b_frag: 64 multiply-adds for 16 words. Odd rows run backwards, so that each multiply-add
// shares an operand with the one before, and asks the register file for less.
__device__ __forceinline__ void add_outer_product(float (&acc)[TM][TN], const float (&a_frag)[TM],
                                                  const float (&b_frag)[TN])
{
    // TODO(v06): multiply every element of a_frag by every element of b_frag, there and back
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks per SM: at most 128 registers
sgemm_v06_outer_product(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;              // the block's first row of C
    const int block_col = blockIdx.x * BN;              // and column
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 further

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
            __align__(16) float a_frag[TM], b_frag[TN];
            // TODO(v06): fill both fragments by two 128-bit loads each
            add_outer_product(acc, a_frag, b_frag);
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
