// lock_by_lane.cu: all lanes of a warp compete for one lock in shared memory, which independent lanes allow.
//
// block: 64
// arg: y i32[1] empty
// gives: y 0 2016

extern "C" __global__ void add_all(int* y)
{
    __shared__ int lock;
    __shared__ volatile int sum;

    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum = sum + threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) y[0] = sum;
}
