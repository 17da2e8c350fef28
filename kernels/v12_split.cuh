// v12_split.cuh: a tile of C whose k two blocks of a cluster share.
#pragma once
#include "v12_cluster.cuh"

// ANCHOR: give
// Sums that a thread gives to its neighbour in the other block, or finds there: 16 bytes of each thread side by side.
template <typename T>
__device__ __forceinline__ unsigned place(unsigned exchange, int i)
{
    return exchange + (i / WIDTH * T::MULTIPLIERS + threadIdx.x) * sizeof(float4);
}

// C = alpha * the sums of both blocks, for half KEPT of the columns.
template <typename T, int KEPT, typename Out>
__device__ __forceinline__ void add_and_store(Out* C, int M, int N, int block_row, int block_col, float alpha,
                                              const float (&acc)[T::SUMS], unsigned exchange)
{
    constexpr int HALF = T::SUMS / CLUSTER, GIVEN = (1 - KEPT) * HALF;
    static_assert(T::EXCHANGE_BYTES == HALF * T::MULTIPLIERS * sizeof(float), "room for them");
    const unsigned there = address_in(exchange, 1 - KEPT);
    #pragma unroll
    for (int i = 0; i < HALF; i += WIDTH) {
        const float* v = &acc[GIVEN + i];
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};"
                     :: "r"(place<T>(there, i)), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
    }
    sync_cluster();  // both have given -> both may read, and end
    float sums[HALF];
    #pragma unroll
    for (int i = 0; i < HALF; i += WIDTH) {
        float more[WIDTH];
        load4_shared(more, place<T>(exchange, i));
        #pragma unroll
        for (int j = 0; j < WIDTH; ++j) sums[i + j] = acc[KEPT * HALF + i + j] + more[j];
    }
    const int row = block_row + threadIdx.x / WARP_SIZE * 16;
    store_sums<true>(C, M, N, row, block_col + KEPT * T::BN / CLUSTER, alpha, sums);
}
// ANCHOR_END: give
