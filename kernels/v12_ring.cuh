// v12_ring.cuh: products of warpgroups from a ring of tiles.
#pragma once
#include "v11_ring.cuh"
#include "v12_tiles.cuh"

constexpr int PRODUCERS = 32;  // threads of the warp that copies
// Where registers move between warpgroups, a whole one copies: registers of its threads, and of those that multiply.
constexpr int FEW = 24, MANY = 240;

// ANCHOR: init
// The barriers of a ring, by one thread: one thread copies, and `readers` arrive when they have read a pair of tiles.
template <typename T>
__device__ __forceinline__ void init_ring(unsigned tiles_at, int readers)
{
    Ring<T, T::STAGES> ring(tiles_at, 0);
    for (int stage = 0; stage < T::STAGES; ++stage, ring.advance()) {
        init_barrier(ring.full(), 1);
        init_barrier(ring.empty(), readers);
    }
    publish_barriers();
}
// ANCHOR_END: init

// ANCHOR: multiply
// acc = the products of the next `steps` pairs of tiles, at least one. The products of one step run while those of the
// next are started: a pair of tiles may be overwritten one step after its turn. `release` gets its barrier.
// Nothing else may write acc while products are under way, or ptxas makes each wait for the one before (C7515). A loop
// that might run no step would: the zeros of acc. `all_are_here`: when the last tiles are.
template <typename T, typename Acc, typename Release, typename AllAreHere>
__device__ __forceinline__ void multiply_steps(Acc& acc, Ring<T, T::STAGES>& ring, int steps, Release release,
                                               AllAreHere all_are_here)
{
    unsigned before = 0;
    int step = 0;
    do {
        wait(ring.full(), ring.parity);
        multiply_tiles<T>(acc, ring.tiles(), step);
        wait_products<1>();  // the step before is done -> its tiles may be overwritten
        if (step > 0) release(before);
        before = ring.empty();
        ring.advance();
    } while (++step < steps);
    all_are_here();
    wait_products<0>();
    release(before);
}

template <typename T, typename Acc, typename Release>
__device__ __forceinline__ void multiply_steps(Acc& acc, Ring<T, T::STAGES>& ring, int steps, Release release)
{
    multiply_steps<T>(acc, ring, steps, release, []() {});
}
// ANCHOR_END: multiply

// A warpgroup has read a pair of tiles: its first thread arrives.
__device__ __forceinline__ void release_tiles(unsigned empty)
{
    if (threadIdx.x % GROUP == 0) arrive(empty);
}
