// v07.deep, a transfer task of 40 minutes: Load ahead with tiles 16 deep.
//
// Keep 128 x 128 elements of C for a block of 256 threads, and walk along K in steps of 16 with two
// buffers.
//
// Judged: right on every shape with all checks clean; one barrier for 16 steps of k; the next tiles
// are requested before these are multiplied, and stored after; at most 0.09375 sectors of global
// loads per multiply-add of a warp. Each thread has two float4 of A and two of B on their way.
//
// What is missing is marked TODO. Check it with: cargo xtask check v07.deep
//
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 16;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;               // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;                          // floats after each row of a_tile
constexpr int EACH = 2;                         // float4 of A, and of B, per thread
constexpr int A_STEP = BK / EACH;               // from one float4 of A of a thread to its next, along k
constexpr int B_ROWS = THREADS / (BN / WIDTH);  // rows of B that the block loads at once
static_assert(BM * BK == EACH * THREADS * WIDTH, "each thread loads two float4s of a_tile");
static_assert(BK == EACH * B_ROWS, "and two of b_tile");

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_deep(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD];  // transposed: a_tile[buffer][k][row]
    __shared__ __align__(16) float b_tile[2][BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int thread_row = thread / (BN / TN) * TM;     // this thread's rows: thread_row .. + TM
    const int thread_col = thread % (BN / TN) * WIDTH;  // and columns: thread_col .. + 4, and BN / 2 further

    const int a_row = thread / (A_STEP / WIDTH);  // where in a_tile this thread's first float4 goes
    const int a_col = thread % (A_STEP / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;

    float4 a_next[EACH], b_next[EACH];  // of the next tiles
    #pragma unroll
    for (int i = 0; i < EACH; ++i) a_next[i] = load4_or_zero(A, M, K, block_row + a_row, a_col + i * A_STEP);
    #pragma unroll
    for (int i = 0; i < EACH; ++i) b_next[i] = load4_or_zero(B, K, N, b_row + i * B_ROWS, block_col + b_col);

    float acc[TM][TN] = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // TODO(v07): store the waiting float4s to this buffer, wait for the others, and load the next ones

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
