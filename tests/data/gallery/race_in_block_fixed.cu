// race_in_block_fixed.cu: the barrier orders global memory for the block, too.
//
// grid: 1
// block: 256
// arg: x i32[256] filled
// arg: scratch i32[256] empty
// arg: y i32[256] empty
// expect: clean

extern "C" __global__ void reverse(const int* x, int* scratch, int* y)
{
    const int thread = threadIdx.x;
    scratch[thread] = x[thread];
    __syncthreads();
    y[thread] = scratch[blockDim.x - 1 - thread];
}
