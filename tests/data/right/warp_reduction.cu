// warp_reduction.cu: the last warp of a reduction in volatile shared memory, with __syncwarp() between the steps.
//
// block: 128
// arg: x i32[128] filled
// arg: y i32[1] empty
// gives: y 0 8128

extern "C" __global__ void reduce(const int* x, int* y)
{
    __shared__ int sums[128];

    const int t = threadIdx.x;
    sums[t] = x[t];
    __syncthreads();
    if (t < 64) sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int* s = sums;
        int sum = s[t] + s[t + 32];
        for (int half = 16; half > 0; half /= 2) {
            s[t] = sum;
            __syncwarp();
            sum += s[(t + half) % 32];
            __syncwarp();
        }
        if (t == 0) y[0] = sum;
    }
}
