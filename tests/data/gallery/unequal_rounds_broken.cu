// unequal_rounds_broken.cu: whole warps make different numbers of rounds, each with a barrier, and there is one more behind the loop.
//
// grid: 2
// block: 128
// arg: y i32[128] empty
// expect: E-BARRIER

extern "C" __global__ void rounds(int* y)
{
    __shared__ int box[128];

    const int thread = threadIdx.x;
    box[thread] = 0;
    for (int round = 0; round < thread / 32 + 1; ++round) {
        box[thread] += round;
        __syncthreads();
    }
    __syncthreads();
    if (blockIdx.x == 0) y[thread] = box[127 - thread];
}
