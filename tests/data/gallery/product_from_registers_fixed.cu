// product_from_registers_fixed.cu: A comes from registers, which are loaded anew for each product: wgmma.fence stands between.
//
// arch: compute_90a
// block: 128
// arg: A f32[2048] mod4
// arg: B f32[256] mod4
// arg: C f32[512] empty
// expect: clean

#include "mbarrier.cuh"
#include "wgmma.cuh"

// Starts d += a * b with a in registers.
__device__ inline void multiply_async(float (&d)[4], const unsigned (&a)[4], unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// The registers of a warp for its 16 rows.
__device__ inline void load_fragments(unsigned (&a)[4], const unsigned short (&tile)[16][16])
{
    const int lane = threadIdx.x % 32;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(&tile[lane % 16][lane / 16 * 8])) : "memory");
}

extern "C" __global__ void multiply(const float* A, const float* B, float* C)
{
    alignas(128) __shared__ unsigned short a_tile[4][16][16];
    alignas(128) __shared__ unsigned short b_tile[2][8][8];  // eight rows with eight k each are a core matrix

    const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
    float sums[4] = {};
    for (int k0 = 0; k0 < 32; k0 += 16) {
        for (int i = t; i < 64 * 16; i += 128) a_tile[i / 256][i / 16 % 16][i % 16] = bf16(A[i / 16 * 32 + k0 + i % 16]);
        b_tile[t / 8 % 2][t / 16][t % 8] = bf16(B[t / 16 * 32 + k0 + t % 16]);
        fence_async();
        __syncthreads();  // tiles are filled -> the product may read them
        unsigned a[4];
        load_fragments(a, a_tile[t / 32]);
        fence_products();
        multiply_async(sums, a, describe(b_tile, 128, 256));
        commit_products();
        wait_for_products();
        __syncthreads();  // the product is done -> tiles may be overwritten
    }
    for (int i = 0; i < 4; ++i) C[(row + i / 2 * 8) * 8 + col + i % 2] = sums[i];
}
