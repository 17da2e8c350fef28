// barrier_deadlock_fixed.cu: both warps pass the barriers in the same order.
//
// grid: 1
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

__device__ __forceinline__ void meet_first() { asm volatile("barrier.sync 1, 64;" ::: "memory"); }
__device__ __forceinline__ void meet_second() { asm volatile("barrier.sync 2, 64;" ::: "memory"); }

extern "C" __global__ void relay(const int* x, int* y)
{
    __shared__ int box[64];

    const int thread = threadIdx.x;
    if (thread < 32) {
        box[thread] = x[thread];
        meet_first();
        meet_second();
        y[thread] = box[thread + 32];
    } else {
        meet_first();
        box[thread] = box[thread - 32] + 1;
        meet_second();
        y[thread] = box[thread];
    }
}
