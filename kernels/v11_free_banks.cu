// v11_free_banks.cu: the sums are multiplied by alpha before they are stored.
//
// Changed since v11_large_tile: C = alpha * A * B. A float4 that is stored must lie in four registers side by side;
// now the products with alpha do, and the sums are free. The compiler then keeps an operand from the instruction before
// more often, and fewer reads collide in a register bank. This explains a part of what it gains; the order changed too.
// Unchanged: everything else.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
#include "common.cuh"

constexpr int BM = 256, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 16, TN = 8;             // tile of C owned by one thread
constexpr int LANES_M = 4, LANES_N = 8;    // a warp's threads, one above and beside the other
constexpr int WARP_M = LANES_M * TM, WARP_N = LANES_N * TN;  // tile of C owned by one warp
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile
constexpr int A_LOADS = BM * BK / WIDTH / THREADS, B_LOADS = BK * BN / WIDTH / THREADS;  // float4s of a thread
constexpr int A_ROWS = BM / A_LOADS, B_ROWS = BK / B_LOADS;  // rows between a thread's float4s
static_assert(A_LOADS * WIDTH * THREADS == BM * BK && B_LOADS * WIDTH * THREADS == BK * BN, "whole float4s");
static_assert(BM % WARP_M == 0 && BN % WARP_N == 0 && TM % WIDTH == 0 && TN % WIDTH == 0, "whole warps and float4s");
static_assert(BK % 2 == 0, "the last k of a tile and the first of the next use different fragments");

// acc += a_frag * b_frag. Odd rows run backwards.
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

// ANCHOR: inside
// X[row][col .. col + 4]; zeros past the edges, if the block is at one.
template <bool AT_EDGE>
__device__ __forceinline__ float4 load4_of(const float* X, int rows, int cols, int row, int col)
{
    return AT_EDGE ? load4_or_zero(X, rows, cols, row, col) : load4(&X[row * cols + col]);
}

template <bool AT_EDGE>
__device__ __forceinline__ void store4_to(float* X, int rows, int cols, int row, int col, float4 v)
{
    if (AT_EDGE) store4_if_inside(X, rows, cols, row, col, v);
    else store4(&X[row * cols + col], v);
}
// ANCHOR_END: inside

template <bool AT_EDGE>
__device__ __forceinline__ void multiply(int M, int N, int K, float alpha, const float* A, const float* B,
                                         float* C, float (&a_tile)[2][BK][BM + PAD], float (&b_tile)[2][BK][BN])
{
    // ANCHOR: map
    const int thread = threadIdx.x, warp = thread / WARP_SIZE, lane = thread % WARP_SIZE;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    // this thread's rows: four from thread_row on, four LANES_M * WIDTH further, ...; its columns likewise
    const int thread_row = warp / (BN / WARP_N) * WARP_M + lane / LANES_N * WIDTH;
    const int thread_col = warp % (BN / WARP_N) * WARP_N + lane % LANES_N * WIDTH;

    const int a_row = thread / (BK / WIDTH);  // where in a_tile this thread's first float4 goes
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);  // and where in b_tile
    const int b_col = thread % (BN / WIDTH) * WIDTH;
    // ANCHOR_END: map

    float4 a_next[A_LOADS], b_next[B_LOADS];
    auto load_next = [&](int k0) {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i)
            a_next[i] = load4_of<AT_EDGE>(A, M, K, block_row + a_row + i * A_ROWS, k0 + a_col);
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i)
            b_next[i] = load4_of<AT_EDGE>(B, K, N, k0 + b_row + i * B_ROWS, block_col + b_col);
    };
    load_next(0);

    __align__(16) float a_frag[2][TM] = {}, b_frag[2][TN] = {};  // zeros: the first product adds nothing
    float acc[TM][TN] = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            a_tile[buffer][a_col + 0][a_row + i * A_ROWS] = a_next[i].x;
            a_tile[buffer][a_col + 1][a_row + i * A_ROWS] = a_next[i].y;
            a_tile[buffer][a_col + 2][a_row + i * A_ROWS] = a_next[i].z;
            a_tile[buffer][a_col + 3][a_row + i * A_ROWS] = a_next[i].w;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) store4(&b_tile[buffer][b_row + i * B_ROWS][b_col], b_next[i]);
        // writes to this buffer done -> reads may start; reads of the other one done -> writes may start
        __syncthreads();

        if (k0 + BK < K) load_next(k0 + BK);

        // ANCHOR: compute
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            #pragma unroll
            for (int i = 0; i < TM; i += WIDTH)
                store4(&a_frag[k % 2][i], load4(&a_tile[buffer][k][thread_row + i * LANES_M]));
            #pragma unroll
            for (int j = 0; j < TN; j += WIDTH)
                store4(&b_frag[k % 2][j], load4(&b_tile[buffer][k][thread_col + j * LANES_N]));
            add_outer_product(acc, a_frag[(k + 1) % 2], b_frag[(k + 1) % 2]);  // of k - 1
        }
        buffer ^= 1;
        // ANCHOR_END: compute
    }

    add_outer_product(acc, a_frag[(BK - 1) % 2], b_frag[(BK - 1) % 2]);  // of the last k

    // ANCHOR: store
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int row = block_row + thread_row + i / WIDTH * LANES_M * WIDTH + i % WIDTH;
            const int col = block_col + thread_col + j * LANES_N;
            const float4 c = make_float4(alpha * acc[i][j], alpha * acc[i][j + 1], alpha * acc[i][j + 2],
                                         alpha * acc[i][j + 3]);
            store4_to<AT_EDGE>(C, M, N, row, col, c);
        }
    }
    // ANCHOR_END: store
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 1)  // one block per SM: up to 255 registers
sgemm_v11_free_banks(int M, int N, int K, float alpha, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[2][BK][BM + PAD];  // transposed: a_tile[buffer][k][row]
    __shared__ __align__(16) float b_tile[2][BK][BN];
    const bool is_inside = (blockIdx.y + 1) * BM <= M && (blockIdx.x + 1) * BN <= N && K % BK == 0 && N % WIDTH == 0;
    if (is_inside) multiply<false>(M, N, K, alpha, A, B, C, a_tile, b_tile);
    else multiply<true>(M, N, K, alpha, A, B, C, a_tile, b_tile);
}
// ANCHOR_END: kernel
