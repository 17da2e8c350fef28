// barrier_of_some.cu: two of four warps meet at a barrier of their own, while the others go on.
//
// block: 128
// arg: y i32[128] empty
// gives: y 0 63
// gives: y 63 0
// gives: y 100 100

extern "C" __global__ void some_meet(int* y)
{
    __shared__ int box[128];

    const int thread = threadIdx.x;
    box[thread] = thread;
    int from = thread;
    if (thread < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        from = 63 - thread;
    }
    y[thread] = box[from];
    __syncthreads();
    box[thread] = 0;
}
