// barrier_in_loop_broken.cu: threads leave the loop early, and with it the barrier inside.
//
// grid: 1
// block: 64
// arg: rounds i32[64] filled
// arg: y i32[64] empty
// expect: E-BARRIER

extern "C" __global__ void rotate(const int* rounds, int* y)
{
    __shared__ int box[64];

    const int thread = threadIdx.x;
    int value = thread;
    for (int i = 0; i < rounds[thread] / 16; ++i) {
        box[thread] = value;
        __syncthreads();
        value = box[(thread + 1) % 64];
        __syncthreads();
    }
    box[thread] = value + rounds[thread];
    __syncthreads();
    y[thread] = box[63 - thread];
}
