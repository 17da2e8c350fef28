// v12_gemm.cuh: pairs of blocks that stay, as those of v12_store and v12_ping_pong, with an epilogue that is fused.
#pragma once
#include "v12_boxes_out.cuh"
#include "v12_cluster.cuh"
#include "v12_ends.cuh"
#include "v12_epilogue.cuh"
#include "v12_order.cuh"
#include "v12_promote.cuh"
#include "v12_turns.cuh"

// A plan: tiles in shared memory, with space for boxes of C behind them; whether warpgroups take tiles in turns;
// whether more than alpha is applied to C; whether sums leave the unit after each step.
template <typename Tiles_, bool TURNS_, bool FUSED_ = false, bool PROMOTES_ = false>
struct Plan {
    using T = Tiles_;
    static constexpr bool TURNS = TURNS_, FUSED = FUSED_, PROMOTES = PROMOTES_;
    // Accumulators of a thread: of FP8 some are promoted, and are there twice.
    static constexpr int ACCUMULATORS = T::SUMS * (TURNS ? T::GROUPS : sizeof(typename T::Element) == 1 ? 2 : 1);
    // Where registers move between warpgroups, a whole one copies.
    static constexpr int COPIERS = ACCUMULATORS > 128 ? GROUP : PRODUCERS;
    static_assert(!(TURNS && PROMOTES), "a warpgroup has no registers for both");
    static constexpr int THREADS = T::MULTIPLIERS + COPIERS;
};

// The bias of a tile's columns from `col` on, a part of it in each lane of a warp: one column of every 32. A thread has
// no registers for that of all columns of its accumulators.
template <int COLS>
struct BiasOfTile {
    float part[COLS / WARP_SIZE];

    __device__ __forceinline__ BiasOfTile(const float* bias, int col, int N)
    {
        #pragma unroll
        for (int i = 0; i < COLS / WARP_SIZE; ++i) {
            const int own = col + i * WARP_SIZE + threadIdx.x % WARP_SIZE;
            part[i] = own < N ? bias[own] : 0.0f;
        }
    }

    // The bias of the column of accumulator `i`.
    __device__ __forceinline__ float operator()(int i) const
    {
        const int column = i / 4 * 8 % WARP_SIZE + threadIdx.x % 4 * 2 + i % 2;
        return __shfl_sync(~0u, part[i / 4 * 8 / WARP_SIZE], column);
    }
};

// ANCHOR: kernel
template <typename P, typename Out>
__device__ __forceinline__ void multiply_staying(int M, int N, int K, const Epilogue& epilogue, const TensorMap& a_map,
                                                 const TensorMap& b_map, const TensorMap& c_map, const Out* old)
{
    using T = typename P::T;
    extern __shared__ __align__(1024) char shared[];
    const unsigned tiles_at = shared_address(shared);
    const int rank = rank_in_cluster(), clusters = gridDim.x / CLUSTER, first = blockIdx.x / CLUSTER;
    const Order order = {(M + CLUSTER * T::BM - 1) / (CLUSTER * T::BM), (N + T::BN - 1) / T::BN};  // of pairs
    const int steps = (K + T::BK - 1) / T::BK;

    if (threadIdx.x == 0) {
        prefetch_maps(a_map, b_map);
        init_ring<T>(tiles_at, CLUSTER * (P::TURNS ? 1 : T::GROUPS));
    }
    meet_in_cluster();  // barriers are made and published -> both blocks may use them

    if (threadIdx.x >= T::MULTIPLIERS) {
        if (P::COPIERS == GROUP) give_registers<FEW>();
        if (threadIdx.x > T::MULTIPLIERS) return;
        Ring<T, T::STAGES> ring(tiles_at, 1);
        for (int tile = first; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            const int block_row = (at.x * CLUSTER + rank) * T::BM, block_col = at.y * T::BN;
            if (tile == first) wait_for_previous();  // it may have written A and B, and may still read C
            for (int step = 0; step < steps; ++step, ring.advance()) {
                wait(ring.empty(), ring.parity);
                copy_shared_tiles<T>(ring.tiles(), ring.full(), a_map, b_map, block_row, block_col, step * T::BK, rank);
            }
        }
        let_next_begin();
        wait_all_released(ring);
        return;
    }

    if (P::COPIERS == GROUP) take_registers<MANY>();
    const int group = threadIdx.x / GROUP;
    Ring<T, T::STAGES> ring(tiles_at, 0);
    BoxesOut<T, Out, T::EXCHANGE_BYTES / (T::GROUPS * BOX_OF_C)> boxes(c_map, tiles_at + ring.EXCHANGE_AT);
    // 64 rows of C from `row` on.
    const auto store = [&](float (&acc)[T::SUMS], int row, int col) {
        const int lane = threadIdx.x % WARP_SIZE, own_row = row + threadIdx.x % GROUP / WARP_SIZE * 16 + lane / 4;
        const auto place = [&](int i) {
            return make_int2(own_row + i / 2 % 2 * 8, col + i / 4 * 8 + lane % 4 * 2 + i % 2);
        };
        const auto load = [&](const float* bias) { return BiasOfTile<T::BN>(bias, col, N); };
        finish<P::FUSED, ~2>(acc, epilogue, old, M, N, place, load);
        boxes.store(row, col, 1.0f, acc);
    };
    if constexpr (P::TURNS) {
        skip(ring, group * steps);
        for (int tile = first + group * clusters; tile < order.count();
             tile += T::GROUPS * clusters, skip(ring, steps)) {
            const int2 at = order.place(tile);
            float acc[T::GROUPS][T::SUMS] = {};  // of 64 rows each
            if (tile != first) wait_for_turn(group);
            // All tiles of the other's turn are here -> the ring is at most one round behind this one's first.
            multiply_steps<T>(acc, ring, steps, release_shared_tiles, [&]() {
                if (tile + clusters < order.count()) give_turn(1 - group);
            });
            #pragma unroll
            for (int i = 0; i < T::GROUPS; ++i)
                store(acc[i], (at.x * CLUSTER + rank) * T::BM + i * T::GROUP_ROWS, at.y * T::BN);
        }
    } else {
        for (int tile = first; tile < order.count(); tile += clusters) {
            const int2 at = order.place(tile);
            float acc[T::SUMS] = {};
            if constexpr (P::PROMOTES)
                promote_steps<T>(acc, ring, steps);
            else
                multiply_steps<T>(acc, ring, steps, release_shared_tiles);
            store(acc, (at.x * CLUSTER + rank) * T::BM + group * T::GROUP_ROWS, at.y * T::BN);
        }
    }
    if (threadIdx.x % GROUP == 0) wait_stores_read<0>();  // shared memory ends with the block
}
// ANCHOR_END: kernel
