// scan.cu: inclusive sums of each block's 256 elements: warps by shuffles, then the warps' totals.

constexpr int BLOCK = 256;
constexpr unsigned ALL = 0xffffffff;

__device__ int warp_scan(int value, int lane)
{
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(ALL, value, step);
        if (lane >= step) value += other;
    }
    return value;
}

extern "C" __global__ void scan(int n, const int* in, int* out)
{
    __shared__ int totals[BLOCK / 32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    int value = warp_scan(i < n ? in[i] : 0, lane);
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const int total = warp_scan(lane < BLOCK / 32 ? totals[lane] : 0, lane);
        if (lane < BLOCK / 32) totals[lane] = total;
    }
    __syncthreads();
    if (warp > 0) value += totals[warp - 1];
    if (i < n) out[i] = value;
}
