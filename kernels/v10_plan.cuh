// v10_plan.cuh: v07's plan with warps in place of threads: each warp owns WM x WN of C as fragments of sums.
//
// Two buffers for each tile, the next tiles in registers while these are multiplied, one barrier per tile.
#pragma once
#include "v10_tiles.cuh"

// WM x WN: the tile of C owned by one warp. FROM: how fragments are loaded.
template <typename Element_, int WM_, int WN_, From FROM_>
struct Plan {
    using Element = Element_;
    using InMemory = typename Kind<Element>::InMemory;
    static constexpr int WM = WM_, WN = WN_, DEPTH = Kind<Element>::DEPTH;
    static constexpr From FROM = FROM_;
    static constexpr int THREADS = (BM / WM) * (BN / WN) * WARP_SIZE;
    static constexpr int ROWS = WM / FRAGMENT, COLS = WN / FRAGMENT;  // of fragments
    using Tiles = Loads<Element, THREADS>;
    using Acc = Sums[ROWS][COLS];
};

// ANCHOR: store
// C[row ..][col ..] = c, as far as that lies inside. Rows must start on 16 bytes for the unit's own store; else the
// fragment goes through `scratch`, in which only this warp writes.
__device__ __forceinline__ void store_inside(float* C, int M, int N, int row, int col, const Sums& c,
                                             float (&scratch)[FRAGMENT][FRAGMENT])
{
    if (row + FRAGMENT <= M && col + FRAGMENT <= N && N % WIDTH == 0) {
        store(&C[row * N + col], c, N);
        return;
    }
    store(&scratch[0][0], c, FRAGMENT);
    __syncwarp();  // the fragment is stored -> all lanes may read it
    #pragma unroll
    for (int i = threadIdx.x % WARP_SIZE; i < FRAGMENT * FRAGMENT; i += WARP_SIZE)
        store_if_inside(C, M, N, row + i / FRAGMENT, col + i % FRAGMENT, scratch[i / FRAGMENT][i % FRAGMENT]);
    __syncwarp();  // it is read -> the next may be stored
}
// ANCHOR_END: store

// ANCHOR: multiply
// The inner loop: acc += a_tile * b_tile, of this warp's rows and columns.
struct Products {
    template <typename P>
    static __device__ __forceinline__ void add(typename P::Acc& acc, const typename P::Tiles::A& a_tile,
                                               const typename P::Tiles::B& b_tile, int warp_row, int warp_col)
    {
        #pragma unroll
        for (int k = 0; k < P::Tiles::BK; k += P::DEPTH) {
            Factor a[P::ROWS], b[P::COLS];
            #pragma unroll
            for (int i = 0; i < P::ROWS; ++i)
                load_a<P::FROM>(a[i], &a_tile[warp_row + i * FRAGMENT][k], P::Tiles::A_STRIDE);
            #pragma unroll
            for (int j = 0; j < P::COLS; ++j)
                load_b<P::FROM>(b[j], &b_tile[k][warp_col + j * FRAGMENT], P::Tiles::B_STRIDE);
            #pragma unroll
            for (int i = 0; i < P::ROWS; ++i)
                #pragma unroll
                for (int j = 0; j < P::COLS; ++j) multiply(acc[i][j], a[i], b[j], &a_tile[0][0]);
        }
    }
};
// ANCHOR_END: multiply

// ANCHOR: product
// C = A * B, BM x BN of it by this block.
template <typename P, typename Inner, bool ON_16_BYTES>
__device__ __forceinline__ void product(int M, int N, int K, const typename P::InMemory* A,
                                        const typename P::InMemory* B, float* C, typename P::Tiles::A (&a_tile)[2],
                                        typename P::Tiles::B (&b_tile)[2])
{
    using Tiles = typename P::Tiles;
    const int warp = threadIdx.x / WARP_SIZE;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / P::WN) * P::WM, warp_col = warp % (BN / P::WN) * P::WN;  // in the block's tile

    Tiles next;
    next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, 0);
    typename P::Acc acc = {};
    int buffer = 0;
    for (int k0 = 0; k0 < K; k0 += Tiles::BK) {
        next.store(a_tile[buffer], b_tile[buffer]);
        // writes to this buffer done -> reads may start; reads of the other one done -> writes may start
        __syncthreads();
        next.template load<ON_16_BYTES>(M, N, K, A, B, block_row, block_col, k0 + Tiles::BK);
        Inner::template add<P>(acc, a_tile[buffer], b_tile[buffer], warp_row, warp_col);
        buffer ^= 1;
    }

    __syncthreads();  // all products are done -> the tiles may serve as scratch
    float (&scratch)[FRAGMENT][FRAGMENT] = reinterpret_cast<float(*)[FRAGMENT][FRAGMENT]>(&a_tile[0][0][0])[warp];
    #pragma unroll
    for (int i = 0; i < P::ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < P::COLS; ++j)
            store_inside(C, M, N, block_row + warp_row + i * FRAGMENT, block_col + warp_col + j * FRAGMENT, acc[i][j],
                         scratch);
}

template <typename P, typename Inner = Products>
__device__ __forceinline__ void product(int M, int N, int K, const typename P::InMemory* A,
                                        const typename P::InMemory* B, float* C)
{
    __shared__ __align__(128) typename P::Tiles::A a_tile[2];
    __shared__ __align__(128) typename P::Tiles::B b_tile[2];
    if (P::Tiles::on_16_bytes(N, K)) product<P, Inner, true>(M, N, K, A, B, C, a_tile, b_tile);
    else product<P, Inner, false>(M, N, K, A, B, C, a_tile, b_tile);
}
// ANCHOR_END: product
