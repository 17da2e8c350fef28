// barrier_in_helper_fixed.cu: the helper with a barrier is called by all threads.
//
// block: 64
// arg: y i32[64] empty
// expect: clean

__device__ __forceinline__ int share(int* box, int thread, int value)
{
    box[thread] = value;
    __syncthreads();
    return box[thread ^ 1];
}

extern "C" __global__ void trade(int* y)
{
    __shared__ int box[64];

    const int thread = threadIdx.x;
    int sum = thread;
    sum = share(box, thread, sum);
    y[thread] = sum;
}
