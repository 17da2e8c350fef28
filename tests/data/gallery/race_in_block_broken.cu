// race_in_block_broken.cu: threads of a block trade values through global memory without a barrier.
//
// grid: 1
// block: 256
// arg: x i32[256] filled
// arg: scratch i32[256] empty
// arg: y i32[256] empty
// expect: E-RACE

extern "C" __global__ void reverse(const int* x, int* scratch, int* y)
{
    const int thread = threadIdx.x;
    scratch[thread] = x[thread];
    y[thread] = scratch[blockDim.x - 1 - thread];
}
