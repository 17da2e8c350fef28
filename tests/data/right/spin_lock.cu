// spin_lock.cu: a lock made of compare-and-swap and fences guards ordinary additions.
//
// grid: 8
// block: 64
// arg: lock i32[1] zero
// arg: counter i32[2] zero
// gives: counter 0 16
// gives: counter 1 120

extern "C" __global__ void count(int* lock, int* counter)
{
    if (threadIdx.x % 32 != 0) return;
    const int me = blockIdx.x * 2 + threadIdx.x / 32;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    counter[0] += 1;
    counter[1] += me;
    __threadfence();
    atomicExch(lock, 0);
}
