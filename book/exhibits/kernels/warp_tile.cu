// warp_tile.cu: v06 with three ways to place the 32 lanes of a warp, which differ in nothing else.
#include "common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // tile of C owned by one block; depth of the tiles of A and B
constexpr int TM = 8, TN = 8;              // tile of C owned by one thread
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = 4;  // floats after each row of a_tile

// ANCHOR: places
// Where a thread's 8 x 8 elements are: its first row, its first column, and how much further its second four
// columns begin.
struct Place {
    int row, col, second;
};

// v06: a warp owns 16 x 128. Lanes 0 to 15 are a row of threads, and so are 16 to 31.
__device__ __forceinline__ Place wide(int thread)
{
    return {thread / 16 * TM, thread % 16 * WIDTH, BN / 2};
}

constexpr int WM = 32, WN = 64;  // tile of C owned by one warp: 4 x 8 threads

__device__ __forceinline__ Place in_warp(int thread, int lane_row, int lane_col)
{
    const int warp_row = thread / WARP_SIZE / (BN / WN) * WM;
    const int warp_col = thread / WARP_SIZE % (BN / WN) * WN;
    return {warp_row + lane_row * TM, warp_col + lane_col * WIDTH, WN / 2};
}

// A warp owns 32 x 64. Lanes 0 to 7 are a row of threads, and so on.
__device__ __forceinline__ Place in_rows(int thread)
{
    return in_warp(thread, thread % WARP_SIZE / 8, thread % 8);
}

// The same 32 x 64. Lanes i and i ^ 1 share their columns, lanes i and i ^ 2 their rows.
__device__ __forceinline__ Place in_pairs(int thread)
{
    const int lane = thread % WARP_SIZE;
    const int lane_row = (lane & 1) | (lane >> 2 & 2);        // bits 0 and 3
    const int lane_col = (lane >> 1 & 3) | (lane >> 2 & 4);  // bits 1, 2 and 4
    return in_warp(thread, lane_row, lane_col);
}
// ANCHOR_END: places

__device__ __forceinline__ void gemm(Place place, int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // transposed: a_tile[k][row]
    __shared__ __align__(16) float b_tile[BK][BN];

    const int thread = threadIdx.x;
    const int block_row = blockIdx.y * BM;
    const int block_col = blockIdx.x * BN;
    const int a_row = thread / (BK / WIDTH);
    const int a_col = thread % (BK / WIDTH) * WIDTH;
    const int b_row = thread / (BN / WIDTH);
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
            // ANCHOR: fragments
            store4(&a_frag[0], load4(&a_tile[k][place.row]));
            store4(&a_frag[WIDTH], load4(&a_tile[k][place.row + WIDTH]));
            store4(&b_frag[0], load4(&b_tile[k][place.col]));
            store4(&b_frag[WIDTH], load4(&b_tile[k][place.col + place.second]));
            // ANCHOR_END: fragments
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int step = 0; step < TN; ++step) {
                    const int j = i % 2 == 0 ? step : TN - 1 - step;
                    acc[i][j] += a_frag[i] * b_frag[j];
                }
            }
        }
        __syncthreads();  // reads of a_tile and b_tile done -> the next tiles may overwrite
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; j += WIDTH) {
            const int col = block_col + place.col + j / WIDTH * place.second;
            const float4 c = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            store4_if_inside(C, M, N, block_row + place.row + i, col, c);
        }
    }
}

#define KERNEL(PLACE)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) PLACE##_lanes(              \
        int M, int N, int K, const float* A, const float* B, float* C)                   \
    {                                                                                    \
        gemm(PLACE(threadIdx.x), M, N, K, A, B, C);                                      \
    }
KERNEL(wide)
KERNEL(in_rows)
KERNEL(in_pairs)
