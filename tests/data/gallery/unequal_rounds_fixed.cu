// unequal_rounds_fixed.cu: all warps make the same number of rounds; the condition is on the work.
//
// grid: 2
// block: 128
// arg: y i32[128] empty
// expect: clean

extern "C" __global__ void rounds(int* y)
{
    __shared__ int box[128];

    const int thread = threadIdx.x;
    box[thread] = 0;
    for (int round = 0; round < 4; ++round) {
        if (round <= thread / 32) box[thread] += round;
        __syncthreads();
    }
    __syncthreads();
    if (blockIdx.x == 0) y[thread] = box[127 - thread];
}
