// v12_promote.cuh: sums that leave the tensor core after each step, since it keeps fewer bits of FP8's than FP32 has.
// Those of a step begin at zero, and are added to the others in FP32, rounded.
#pragma once
#include "v12_cluster.cuh"

// ANCHOR: promote
// sums += the products of each of the next `steps` pairs of tiles. While this warpgroup adds, the other multiplies.
// A thread has no registers for all sums of a wide tile twice: half of its columns follow the other half.
template <typename T>
__device__ __forceinline__ void promote_steps(float (&sums)[T::SUMS], Ring<T, T::STAGES>& ring, int steps)
{
    constexpr int MOST_TWICE = 96;  // of the 240 registers that a thread has at most
    constexpr int PARTS = T::SUMS > MOST_TWICE ? 2 : 1, SUMS = T::SUMS / PARTS;
    static_assert(T::B_BY_K, "columns of B are rows of its tile");
    float acc[SUMS] = {};
    for (int step = 0; step < steps; ++step, ring.advance()) {
        wait(ring.full(), ring.parity);
        #pragma unroll
        for (int part = 0; part < PARTS; ++part) {
            fence_products();
            multiply_pair<T>(acc, ring.tiles(), ring.tiles() + part * T::BN / PARTS * T::ROW_BYTES, 0);  // acc is new
            commit_products();
            wait_products<0>();
            if (part + 1 == PARTS) release_shared_tiles(ring.empty());
            #pragma unroll
            for (int i = 0; i < SUMS; ++i) sums[part * SUMS + i] += acc[i];
        }
    }
}
// ANCHOR_END: promote
