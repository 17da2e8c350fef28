// v12_ends.cuh: how blocks of the library begin, and how those end that copy for each other.
#pragma once
#include "v12_dependent.cuh"
#include "v12_ring.cuh"

// Fetches the tensor maps before the first copy needs them.
__device__ __forceinline__ void prefetch_maps(const TensorMap& a_map, const TensorMap& b_map)
{
    asm volatile("prefetch.tensormap [%0];" :: "l"(&a_map) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&b_map) : "memory");
}

// By the thread that copies, after its last copy: until all pairs of tiles are released. Other blocks of the cluster
// arrive at barriers of this one, which may end only when the last of them has come: that all are done is not enough.
template <typename T, int STAGES>
__device__ __forceinline__ void wait_all_released(Ring<T, STAGES>& ring)
{
    for (int i = 0; i < STAGES; ++i, ring.advance()) wait(ring.empty(), ring.parity);
}
