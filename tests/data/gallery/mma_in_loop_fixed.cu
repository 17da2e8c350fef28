// mma_in_loop_fixed.cu: all lanes multiply in each round, and those beyond the rows store nothing.
//
// arch: compute_80
// block: 32
// arg: n i32 20
// arg: x f32[512] mod4
// arg: y f32[128] zero
// expect: clean

#include <cuda_fp16.h>

extern "C" __global__ void squares(int n, const float* x, float* y)
{
    __shared__ __align__(16) half tile[2][16][16];

    const int t = threadIdx.x;
    for (int i = t; i < 512; i += 32) tile[i / 256][i / 16 % 16][i % 16] = __float2half(x[i]);
    __syncwarp();
    float d[4] = {};
    for (int k = 0; k < 2; ++k) {
        const unsigned row = __cvta_generic_to_shared(&tile[k][t % 16][t / 16 * 8]);
        unsigned a[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
        if (t < 32)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                         "{%4, %6}, {%0, %1, %2, %3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    }
    if (t < n)
        for (int i = 0; i < 4; ++i) y[i * 32 + t] = d[i];
}
