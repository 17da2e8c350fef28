// wait_for_waiters_broken.cu: half of the block spins on a flag that is set only behind a barrier they never reach.
//
// grid: 1
// block: 64
// budget: 2000000
// arg: y i32[64] empty
// expect: E-BARRIER E-LOOP

extern "C" __global__ void signal(int* y)
{
    __shared__ volatile int ready;

    const int thread = threadIdx.x;
    if (thread == 0) ready = 0;
    __syncthreads();
    if (thread < 32) {
        __syncthreads();
        if (thread == 0) ready = 1;
    } else {
        while (ready == 0) {}
    }
    y[thread] = thread;
}
