// barrier_number_fixed.cu: sixteen pairs of warps, and a barrier for each.
//
// grid: 1
// block: 1024
// arg: x f32[1024] filled
// arg: y f32[1024] empty
// expect: clean

extern "C" __global__ void reverse_pairs(const float* x, float* y)
{
    __shared__ float tile[1024];
    const int pair = threadIdx.x / 64;
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync %0, 64;" : : "r"(pair) : "memory");
    y[threadIdx.x] = tile[64 * pair + 63 - threadIdx.x % 64];
}
