// wait_for_waiters_fixed.cu: the flag is set before anybody waits for those who wait for it.
//
// grid: 1
// block: 64
// budget: 2000000
// arg: y i32[64] empty
// expect: clean

extern "C" __global__ void signal(int* y)
{
    __shared__ volatile int ready;

    const int thread = threadIdx.x;
    if (thread == 0) ready = 0;
    __syncthreads();
    if (thread < 32) {
        if (thread == 0) ready = 1;
    } else {
        while (ready == 0) {}
    }
    y[thread] = thread;
}
