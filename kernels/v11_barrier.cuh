// v11_barrier.cuh: barriers in shared memory and copies of boxes (TMA), as inline PTX. Compute capability 9.0.
#pragma once
#include "v11_tile.cuh"

// What cuTensorMapEncodeTiled writes on the host: where a matrix lies, its shape, and the box that one copy brings.
struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

// ANCHOR: barrier
// A phase of the barrier ends after `count` arrivals, and when all bytes that were announced in it have come.
__device__ __forceinline__ void init_barrier(unsigned barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

// Arrives, and announces bytes that copies bring in this phase.
__device__ __forceinline__ void arrive_and_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}

// Arrives as soon as all copies that this thread has started (cp.async) are done.
__device__ __forceinline__ void arrive_after_copies(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");
}

// Until the phase of this parity has ended. A new barrier is in phase 0, and a wait for parity 1 passes.
__device__ __forceinline__ void wait(unsigned barrier, int parity)
{
    int ended;
    do {
        asm volatile("{\n"
                     ".reg .pred ended;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, ended;\n"
                     "}" : "=r"(ended) : "r"(barrier), "r"(parity) : "memory");
    } while (!ended);
}

// All threads, and the unit that copies boxes, see the barriers that this thread initialised.
__device__ __forceinline__ void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// ANCHOR_END: barrier

// ANCHOR: box
// Starts a copy of the map's box at column x, row y to shared memory, and goes on. The barrier gets the bytes of the
// whole box: where it reaches past the matrix, zeros.
__device__ __forceinline__ void copy_box(unsigned to, const TensorMap& map, int x, int y, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
// ANCHOR_END: box

// ANCHOR: registers
// The registers of a block are shared out anew: a warpgroup takes more, or gives some back. All its threads call it.
template <int COUNT>
__device__ __forceinline__ void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(COUNT));
}

template <int COUNT>
__device__ __forceinline__ void give_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(COUNT));
}
// ANCHOR_END: registers

// Until all threads that multiply are here. Those that copy take no part.
template <int THREADS>
__device__ __forceinline__ void sync_multipliers()
{
    asm volatile("bar.sync 1, %0;" :: "n"(THREADS) : "memory");
}
