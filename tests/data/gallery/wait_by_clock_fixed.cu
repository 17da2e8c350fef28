// wait_by_clock_fixed.cu: a wait looks at the timer between its pauses; the one for a phase that never ends gives up.
//
// arch: compute_90
// block: 32
// arg: y i32[1] empty
// expect: clean

#include "mbarrier.cuh"

constexpr unsigned long long LIMIT = 2000000000;  // nanoseconds

__device__ inline unsigned long long timer()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// Whether the phase has ended.
__device__ inline bool wait_for(unsigned long long* barrier, unsigned parity)
{
    const unsigned long long start = timer();
    for (;;) {
        unsigned done;
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
        if (done) return true;
        if (timer() - start > LIMIT) return false;
        __nanosleep(20);
    }
}

extern "C" __global__ void count(int* y)
{
    __shared__ unsigned long long full, other;

    if (threadIdx.x != 0) return;
    init(&full, 1);
    init(&other, 1);
    arrive(&full);
    y[0] = wait_for(&full, 0) + wait_for(&other, 0);
}
