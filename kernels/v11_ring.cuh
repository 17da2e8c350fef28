// v11_ring.cuh: a ring of tiles in shared memory between warps that copy and warps that multiply.
//
// Each pair of tiles has two barriers. `full`: the tiles are here. `empty`: all warps have read them. Who copies waits
// for `empty`, who multiplies for `full`; no __syncthreads() in the loop.
#pragma once
#include "v11_barrier.cuh"

// ANCHOR: ring
template <typename T, int STAGES>
struct Ring {
    static constexpr int BARRIER_BYTES = 8;
    static constexpr int EXCHANGE_AT = STAGES * T::STAGE_BYTES, FULL_AT = EXCHANGE_AT + T::EXCHANGE_BYTES;
    static constexpr int EMPTY_AT = FULL_AT + STAGES * BARRIER_BYTES;
    unsigned shared;
    int stage = 0, parity;  // of the tiles whose turn it is, and of the phase to wait for

    __device__ __forceinline__ Ring(unsigned shared_, int parity_) : shared(shared_), parity(parity_) {}

    __device__ __forceinline__ unsigned tiles() const { return shared + stage * T::STAGE_BYTES; }
    __device__ __forceinline__ unsigned full() const { return shared + FULL_AT + stage * BARRIER_BYTES; }
    __device__ __forceinline__ unsigned empty() const { return shared + EMPTY_AT + stage * BARRIER_BYTES; }

    // The next tiles; how far they lie from these.
    __device__ __forceinline__ int advance()
    {
        const bool wraps = ++stage == STAGES;
        if (wraps) stage = 0, parity ^= 1;
        return wraps ? -(STAGES - 1) * T::STAGE_BYTES : T::STAGE_BYTES;
    }

    // By one thread, before all meet at a barrier. `arrivals`: of those who copy, for each pair of tiles.
    static __device__ __forceinline__ void init(unsigned shared, int arrivals)
    {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(shared + FULL_AT + stage * BARRIER_BYTES, arrivals);
            init_barrier(shared + EMPTY_AT + stage * BARRIER_BYTES, T::THREADS / WARP_SIZE);
        }
        publish_barriers();
    }
};
// ANCHOR_END: ring

// ANCHOR: boxes
// Tiles as boxes of two tensor maps, started by one thread.
template <typename T>
struct Boxes {
    static constexpr int ARRIVALS = 1;
    const TensorMap &a_map, &b_map;
    int block_row, block_col, k0;

    __device__ __forceinline__ void begin(int row, int col, int k) { block_row = row, block_col = col, k0 = k; }

    // The tiles that are next.
    __device__ __forceinline__ void copy(unsigned to, unsigned barrier)
    {
        arrive_and_expect(barrier, T::STAGE_BYTES);
        copy_box(to, a_map, k0, block_row, barrier);
        copy_box(to + T::A_BYTES, b_map, block_col, k0, barrier);
        k0 += T::BK;
    }
};
// ANCHOR_END: boxes

// ANCHOR: multiply
// The next `count` pairs of tiles. `more`: others follow, and the fragments of their first k are loaded at the end.
template <typename T, int STAGES>
__device__ __forceinline__ void multiply_ring(Multiplier<T>& mine, Ring<T, STAGES>& ring, int count, bool more)
{
    mine.begin();
    mine.clear();
    for (int left = count; left > 0; --left) {
        const unsigned empty = ring.empty();
        mine.multiply(
            [&]() {
                const int distance = ring.advance();
                if (left == 1 && !more) return 0;
                wait(ring.full(), ring.parity);
                return distance;
            },
            [&]() {
                __syncwarp();
                if (threadIdx.x % WARP_SIZE == 0) arrive(empty);
            });
    }
}
// ANCHOR_END: multiply
