// ldmatrix_race_fixed.cu: two warps fill a tile, and a barrier stands before they load its matrices.
//
// arch: compute_80
// block: 64
// arg: x f32[256] filled
// arg: y i32[256] empty
// expect: clean

#include <cuda_fp16.h>

extern "C" __global__ void fragments(const float* x, unsigned* y)
{
    __shared__ __align__(16) half tile[16][24];

    const int t = threadIdx.x;
    for (int i = t; i < 256; i += 64) tile[i / 16][i % 16] = __float2half(x[i]);
    __syncthreads();
    const int lane = t % 32;
    const unsigned row = __cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 8]);
    unsigned a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
    for (int i = 0; i < 4; ++i) y[i * 64 + t] = a[i];
}
