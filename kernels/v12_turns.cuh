// v12_turns.cuh: two warpgroups that take tiles in turns, as in v12_ping_pong.cu, which stays as it was profiled.
#pragma once
#include "v12_ring.cuh"

// ANCHOR: turn
// Over the next `count` tiles of the ring, which are the other warpgroup's.
template <typename T>
__device__ __forceinline__ void skip(Ring<T, T::STAGES>& ring, int count)
{
    ring.stage += count;
    ring.parity ^= ring.stage / T::STAGES % 2;
    ring.stage %= T::STAGES;
}

// The barrier at which a warpgroup waits for its turn; the other one only arrives. Lower numbers are taken.
__device__ __forceinline__ int turn_of(int group) { return 3 + group; }

__device__ __forceinline__ void wait_for_turn(int group)
{
    asm volatile("bar.sync %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}

__device__ __forceinline__ void give_turn(int group)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(turn_of(group)), "n"(2 * GROUP) : "memory");
}
// ANCHOR_END: turn
