// early_return.cu: threads without work return in the middle of a warp; nobody misses what they would have done.
//
// grid: 2
// block: 64
// arg: n i32 100
// arg: x i32[100] filled
// arg: y i32[100] empty
// gives: y 0 1
// gives: y 98 99
// gives: y 99 99

extern "C" __global__ void neighbours(int n, const int* x, int* y)
{
    __shared__ int tile[64];

    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    const int last = min(63, n - 1 - blockIdx.x * 64);
    y[i] = tile[min((int)threadIdx.x + 1, last)];
}
