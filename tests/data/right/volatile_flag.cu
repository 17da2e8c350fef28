// volatile_flag.cu: one thread sets a volatile flag in shared memory behind a fence, the others poll it.
//
// block: 96
// arg: y i32[96] empty
// gives: y 0 7
// gives: y 95 7

extern "C" __global__ void wait_for_first(int* y)
{
    __shared__ volatile int ready;
    __shared__ volatile int value;

    if (threadIdx.x == 40) ready = 0;
    __syncthreads();
    if (threadIdx.x == 40) {
        value = 7;
        __threadfence_block();
        ready = 1;
    }
    while (ready == 0) {}
    __threadfence_block();
    y[threadIdx.x] = value;
}
