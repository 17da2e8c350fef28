// volatile_reduction_fixed.cu: __syncwarp() lies between what a lane reads and what another writes.
//
// grid: 2
// block: 128
// arg: x i32[256] filled
// arg: y i32[2] empty
// expect: clean

__device__ void reduce_warp(int* s, int t)
{
    int sum = s[t];
    for (int half = 32; half > 0; half /= 2) {
        sum += s[t + half];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
    }
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
