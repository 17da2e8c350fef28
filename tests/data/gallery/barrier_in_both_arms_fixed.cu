// barrier_in_both_arms_fixed.cu: both roles meet at one __syncthreads().
//
// block: 64
// arg: n i32 4
// arg: x i32[128] filled
// arg: y i32[32] empty
// expect: clean

extern "C" __global__ void load_and_add(int n, const int* x, int* y)
{
    __shared__ int buffer[2][32];

    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int k = 0; k <= n; ++k) {
        if (threadIdx.x < 32) {
            if (k < n) buffer[k % 2][lane] = x[32 * k + lane];
        } else {
            if (k > 0) sum += buffer[(k - 1) % 2][lane];
        }
        __syncthreads();
    }
    if (threadIdx.x >= 32) y[lane] = sum;
}
