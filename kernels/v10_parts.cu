// v10_parts.cu: the next tiles arrive in parts, among the products.
//
// Changed since v10_ahead: the next tiles are stored in four parts, one among the products of each 16 k (of TF32: 8 k),
// and the load of the same part of the tiles behind them follows at once. Addresses are computed anew for each load.
// The tile of C stands upright.
// Any M, N, K. Launch: THREADS threads, one block per ROWS_OF_C x COLS_OF_C of C; two tiles of A and of B are shared.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int ROWS_OF_C = 256, COLS_OF_C = 128;  // owned by one block
constexpr int WM = 64, WN = 64;                  // owned by one warp
constexpr int PRODUCTS = 4;                      // along the k of a tile; a part is loaded for each
constexpr int THREADS = (ROWS_OF_C / WM) * (COLS_OF_C / WN) * WARP_SIZE;

template <typename Element>
using Tiles = Loads<Element, THREADS, ROWS_OF_C, COLS_OF_C, PRODUCTS>;

// ANCHOR: anew
// x, as a number of which the compiler knows nothing: it computes again each time what follows from it. Of a number
// that never changes it would compute the addresses of all loads once, before the loop, and keep them in registers,
// which sums and fragments need.
__device__ __forceinline__ int anew(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}
// ANCHOR_END: anew

// ANCHOR: product
template <typename Element, bool ON_16_BYTES>
__device__ __forceinline__ void product_parts(int M, int N, int K, const typename Kind<Element>::InMemory* A,
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
    const auto load_part = [&](int part, int k0) {
        next.template load<ON_16_BYTES, PRODUCTS>(M, N, K, A, B, anew(block_row), anew(block_col), k0, part);
    };
    next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, 0);
    next.store(a_tile[0], b_tile[0]);
    next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, T::BK);
    __syncthreads();  // the first tiles are stored -> reads may start
    load_cols(0, 0);
    load_row(0, 0, 0);
    Sums acc[ROWS][COLS] = {};
    for (int k0 = 0; k0 < K; k0 += T::BK) {
        #pragma unroll
        for (int part = 0; part < PRODUCTS; ++part) {
            const int k = part * DEPTH, now = part % 2;
            const bool last = part + 1 == PRODUCTS;
            #pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                if (i == 0) next.template store<PRODUCTS>(a_tile[buffer ^ 1], b_tile[buffer ^ 1], part);
                if (i == 1) load_part(part, k0 + 2 * T::BK);
                if (i + 1 < ROWS) {
                    load_row((i + 1) % 2, i + 1, k);
                } else {
                    if (last) {
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
__device__ __forceinline__ void product_parts(int M, int N, int K, const typename Kind<Element>::InMemory* A,
                                              const typename Kind<Element>::InMemory* B, float* C)
{
    if (Tiles<Element>::on_16_bytes(N, K)) product_parts<Element, true>(M, N, K, A, B, C);
    else product_parts<Element, false>(M, N, K, A, B, C);
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
bf16gemm_v10_parts(int M, int N, int K, const bf16* A, const bf16* B, float* C)
{
    product_parts<bf16>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
tf32gemm_v10_parts(int M, int N, int K, const float* A, const float* B, float* C)
{
    product_parts<tf32>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
