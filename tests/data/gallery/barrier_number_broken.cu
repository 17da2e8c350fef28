// barrier_number_broken.cu: sixteen pairs of warps, and barrier 0 is left out: the last pair has none.
//
// grid: 1
// block: 1024
// arg: x f32[1024] filled
// arg: y f32[1024] empty
// expect: E-OPERAND

extern "C" __global__ void reverse_pairs(const float* x, float* y)
{
    __shared__ float tile[1024];
    const int pair = threadIdx.x / 64;
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync %0, 64;" : : "r"(pair + 1) : "memory");
    y[threadIdx.x] = tile[64 * pair + 63 - threadIdx.x % 64];
}
