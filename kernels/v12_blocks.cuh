// v12_blocks.cuh: clusters whose blocks stay, and C that leaves as boxes: v12_store and kernels of other numbers.
#pragma once
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_order.cuh"

// ANCHOR: blocks
// acc = the products of the next `steps` pairs of tiles: the unit makes the sums.
template <typename T>
struct OnUnit {
    static constexpr int COPIERS = PRODUCERS;

    static __device__ __forceinline__ void sum(float (&acc)[T::SUMS], Ring<T, T::STAGES>& ring, int steps)
    {
        multiply_steps<T>(acc, ring, steps, release_shared_tiles);
    }
};

template <typename T, typename Out, typename Sums = OnUnit<T>>
__device__ __forceinline__ void multiply_blocks(int M, int N, int K, float alpha, const TensorMap& a_map,
                                                const TensorMap& b_map, const TensorMap& c_map)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) init_ring<T>(tiles_at, CLUSTER * T::GROUPS);
    meet_in_cluster();  // barriers are made and published -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (Sums::COPIERS == GROUP) give_registers<FEW>();
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            const int block_row = (at.x * CLUSTER + rank) * T::BM, block_col = at.y * T::BN;
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                copy_shared_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK, rank);
            }
        }
        return;
    }

    if (Sums::COPIERS == GROUP) take_registers<MANY>();
    const int group = threadIdx.x / GROUP;
    Ring<T, T::STAGES> ring(tiles_at, 0);
    BoxesOut<T, Out, T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C)> out(c_map, tiles_at + ring.EXCHANGE_AT);
    for (int tile = blockIdx.x / CLUSTER; tile < order.count(); tile += clusters) {
        const int2 at = order.place(tile);
        float acc[T::SUMS] = {};
        Sums::sum(acc, ring, steps);
        out.store((at.x * CLUSTER + rank) * T::BM + group * T::GROUP_ROWS, at.y * T::BN, alpha, acc);
    }
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
    meet_in_cluster();  // the other block arrives here no more -> this one may end
}
// ANCHOR_END: blocks
