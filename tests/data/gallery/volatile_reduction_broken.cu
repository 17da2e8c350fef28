// volatile_reduction_broken.cu: the last warp of a reduction trusts its lanes to run in step.
//
// grid: 2
// block: 128
// arg: x i32[256] filled
// arg: y i32[2] empty
// expect: E-RACE

__device__ void reduce_warp(volatile int* s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

extern "C" __global__ void reduce(const int* x, int* y)
{
    __shared__ int sums[128];

    const int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32) reduce_warp(sums, t);
    if (t == 0) y[blockIdx.x] = sums[0];
}
