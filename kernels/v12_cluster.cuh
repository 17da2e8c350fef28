// v12_cluster.cuh: blocks of a cluster that share what they copy.
#pragma once
#include "v12_ring.cuh"

// ANCHOR: cluster
// This block's place in its cluster.
__device__ __forceinline__ int rank_in_cluster()
{
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Where another block of the cluster has what lies here in this one.
__device__ __forceinline__ unsigned address_in(unsigned address, int rank)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

// Until all threads of the cluster that still run are here. It orders no writes.
__device__ __forceinline__ void meet_in_cluster()
{
    asm volatile("barrier.cluster.arrive.relaxed;\n"
                 "barrier.cluster.wait;" ::: "memory");
}

// The same; what they wrote before can be seen after.
__device__ __forceinline__ void sync_cluster()
{
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::: "memory");
}

// Arrives at the barrier of another block of the cluster, which may overwrite then what was read here. It releases
// writes to its own block only: `.release.cluster` would to all, with a fence for the whole GPU at each arrival.
__device__ __forceinline__ void arrive_in(unsigned barrier, int rank)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];"
                 :: "r"(address_in(barrier, rank)) : "memory");
}

// Starts a copy of the map's box to the same place in all blocks of the cluster that `blocks` names by bits. The same
// barrier of each gets the bytes.
__device__ __forceinline__ void copy_box_to_all(unsigned to, const TensorMap& map, int x, int y, unsigned barrier,
                                                unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks) : "memory");
}
// ANCHOR_END: cluster

// ANCHOR: pair
constexpr int CLUSTER = 2;  // blocks, one below the other in C: they need the same tiles of B

// This block's tile of A, and its half of the boxes of B, which both blocks get: of their k, or of the columns where B
// has a row for each.
template <typename T>
__device__ __forceinline__ void copy_shared_tiles(unsigned to, unsigned full, const TensorMap& a_map,
                                                  const TensorMap& b_map, int block_row, int block_col, int k0,
                                                  int rank)
{
    constexpr int OWN_ROWS = (T::B_BY_K ? T::BN : T::BK) / CLUSTER, ALL = (1 << CLUSTER) - 1;
    arrive_and_expect(full, T::STAGE_BYTES);
    copy_box(to, a_map, k0, block_row, full);
    const unsigned b_tile = to + T::A_BYTES + rank * OWN_ROWS * T::ROW_BYTES;
    if constexpr (T::B_BY_K) {
        copy_box_to_all(b_tile, b_map, k0, block_col + rank * OWN_ROWS, full, ALL);
    } else {
        #pragma unroll
        for (int box = 0; box < T::BOXES; ++box)
            copy_box_to_all(b_tile + box * T::BOX_BYTES, b_map, block_col + box * T::BOX, k0 + rank * OWN_ROWS, full,
                            ALL);
    }
}

// A warpgroup has read a pair of tiles: it arrives in both blocks, because both copy to them.
__device__ __forceinline__ void release_shared_tiles(unsigned empty)
{
    const int rank = threadIdx.x % GROUP;
    if (rank < CLUSTER) arrive_in(empty, rank);
}
// ANCHOR_END: pair
