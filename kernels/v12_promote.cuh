// v12_promote.cuh: sums that leave the tensor core after each step, since it keeps fewer bits of FP8's than FP32 has.
// Those of a step begin at zero, and are added to the others in FP32, rounded.
#pragma once
#include "v12_cluster.cuh"

// ANCHOR: promote
// sums += the products of each of the next `steps` pairs of tiles. While this warpgroup adds, the other multiplies.
template <typename T>
__device__ __forceinline__ void promote_steps(float (&sums)[T::SUMS], Ring<T, T::STAGES>& ring, int steps)
{
    float acc[T::SUMS] = {};
    for (int step = 0; step < steps; ++step, ring.advance()) {
        wait(ring.full(), ring.parity);
        multiply_tiles<T>(acc, ring.tiles(), 0);  // acc is new
        wait_products<0>();
        release_shared_tiles(ring.empty());
        #pragma unroll
        for (int i = 0; i < T::SUMS; ++i) sums[i] += acc[i];
    }
}
// ANCHOR_END: promote
