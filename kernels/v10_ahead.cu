// v10_ahead.cu: factors are loaded before the products that need them.
//
// Changed since v10_large_warps: while a warp multiplies by a factor of A, it loads the next one, and before the last
// of them all factors of B for the next products. The next tiles are stored before the last products of a step, and the
// loads of those behind them start at once: they have a whole step to arrive. Tiles are 128 x 256 of C and twice as
// deep, for eight warps: half the barriers, and fewer bytes for each product.
// Any M, N, K. Launch: THREADS threads, one block per ROWS_OF_C x COLS_OF_C of C; two tiles of A and of B are shared.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int ROWS_OF_C = 128, COLS_OF_C = 256;  // owned by one block
constexpr int WM = 64, WN = 64;                  // owned by one warp
constexpr int PRODUCTS = 4;                      // along the k of a tile
constexpr int THREADS = (ROWS_OF_C / WM) * (COLS_OF_C / WN) * WARP_SIZE;

template <typename Element>
using Tiles = Loads<Element, THREADS, ROWS_OF_C, COLS_OF_C, PRODUCTS>;

// ANCHOR: product
template <typename Element, bool ON_16_BYTES>
__device__ __forceinline__ void product_ahead(int M, int N, int K, const typename Kind<Element>::InMemory* A,
                                              const typename Kind<Element>::InMemory* B, float* C)
{
    using T = Tiles<Element>;
    constexpr int ROWS = WM / FRAGMENT, COLS = WN / FRAGMENT, DEPTH = Kind<Element>::DEPTH;
    extern __shared__ __align__(128) char shared[];
    auto* a_tile = reinterpret_cast<typename T::A*>(shared);
    auto* b_tile = reinterpret_cast<typename T::B*>(a_tile + 2);
    const int warp = threadIdx.x / WARP_SIZE;
    const int block_row = blockIdx.y * ROWS_OF_C, block_col = blockIdx.x * COLS_OF_C;
    const int warp_row = warp / (COLS_OF_C / WN) * WM, warp_col = warp % (COLS_OF_C / WN) * WN;

    int buffer = 0;
    Factor a[2], b[2][COLS];
    const auto load_row = [&](int to, int i, int k) {
        load_a<From::SHARED>(a[to], &a_tile[buffer][warp_row + i * FRAGMENT][k], T::A_STRIDE);
    };
    const auto load_cols = [&](int to, int k) {
        #pragma unroll
        for (int j = 0; j < COLS; ++j)
            load_b<From::SHARED>(b[to][j], &b_tile[buffer][k][warp_col + j * FRAGMENT], T::B_STRIDE);
    };

    T next;
    next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, 0);
    next.store(a_tile[0], b_tile[0]);
    next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, T::BK);
    __syncthreads();  // the first tiles are stored -> reads may start
    load_cols(0, 0);
    load_row(0, 0, 0);
    Sums acc[ROWS][COLS] = {};
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        #pragma unroll
        for (int k = 0; k < T::BK; k += DEPTH) {
            const int now = k / DEPTH % 2;
            #pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                if (i + 1 < ROWS) {
                    load_row((i + 1) % 2, i + 1, k);
                } else {
                    const bool last = k + DEPTH == T::BK;
                    if (last) {
                        next.store(a_tile[buffer ^ 1], b_tile[buffer ^ 1]);
                        next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, k0 + 2 * T::BK);
                        // writes to the other buffer done -> reads may start; reads of this one done -> so may writes
                        __syncthreads();
                        buffer ^= 1;
                    }
                    load_cols(1 - now, last ? 0 : k + DEPTH);
                    load_row((i + 1) % 2, 0, last ? 0 : k + DEPTH);
                }
                #pragma unroll
                for (int j = 0; j < COLS; ++j)
                    multiply(acc[i][j], a[i % 2], b[now][j], &a_tile[0][0][0]);
            }
        }
    }
    // ANCHOR_END: product

    __syncthreads();  // all products are done -> the tiles may serve as scratch
    float (&scratch)[FRAGMENT][FRAGMENT] = reinterpret_cast<float(*)[FRAGMENT][FRAGMENT]>(shared)[warp];
    #pragma unroll
    for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < COLS; ++j)
            store_inside(C, M, N, block_row + warp_row + i * FRAGMENT, block_col + warp_col + j * FRAGMENT, acc[i][j],
                         scratch);
}

template <typename Element>
__device__ __forceinline__ void product_ahead(int M, int N, int K, const typename Kind<Element>::InMemory* A,
                                              const typename Kind<Element>::InMemory* B, float* C)
{
    if (Tiles<Element>::on_16_bytes(N, K)) product_ahead<Element, true>(M, N, K, A, B, C);
    else product_ahead<Element, false>(M, N, K, A, B, C);
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
bf16gemm_v10_ahead(int M, int N, int K, const bf16* A, const bf16* B, float* C)
{
    product_ahead<bf16>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
tf32gemm_v10_ahead(int M, int N, int K, const float* A, const float* B, float* C)
{
    product_ahead<tf32>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
