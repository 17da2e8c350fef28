// v07.tn: load ahead where A is stored transposed (column-major).
//
// A is stored as K x M, so a float4 of it is four rows of one k and goes to a_tile as it is: no turn, no padding.
// Unchanged: two buffers, one barrier per tile, and the next tiles are loaded before these are multiplied.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(BM * BK == THREADS * WIDTH, "each thread loads one float4 of a_tile");
static_assert(BK * BN == THREADS * WIDTH, "each thread loads one float4 of b_tile");

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
sgemm_tn(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM];  // a_tile[buffer][k][row]
    __shared__ __align__(16) float b_tile[2][BK][BN];  // b_tile[buffer][k][col]

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 further

    const int a_k = thread / (BM / WIDTH);  // where in a_tile this thread's float4 goes
    const int a_row = thread % (BM / WIDTH) * WIDTH;
    const int b_k = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float4 a_next = load4_or_zero(A, K, M, a_k, block_row + a_row);
    float4 b_next = load4_or_zero(B, K, N, b_k, block_col + b_col);

    float acc[TM][TN] = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        store4(&a_tile[buffer][a_k][a_row], a_next);
        store4(&b_tile[buffer][b_k][b_col], b_next);
        // writes to this buffer done -> reads may start; reads of the other one done -> writes may start
        __syncthreads();

        a_next = load4_or_zero(A, K, M, k0 + BK + a_k, block_row + a_row);
        b_next = load4_or_zero(B, K, N, k0 + BK + b_k, block_col + b_col);

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            store4(&a_frag[0], load4(&a_tile[buffer][k][thread_row]));
            store4(&a_frag[WIDTH], load4(&a_tile[buffer][k][thread_row + WIDTH]));
            store4(&b_frag[0], load4(&b_tile[buffer][k][thread_col]));
            store4(&b_frag[WIDTH], load4(&b_tile[buffer][k][thread_col + BN / 2]));
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a_frag[i] * b_frag[j];
            }
        }
        buffer ^= 1;
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
