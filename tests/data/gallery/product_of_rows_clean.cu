// product_of_rows_clean.cu: A has 50 rows, and the other rows of its tile stay as they are: their sums are not stored.
//
// arch: compute_90a
// block: 128
// arg: A f32[1600] mod4
// arg: B f32[256] mod4
// arg: C f32[400] empty
// expect: clean

#include "mbarrier.cuh"
#include "wgmma.cuh"

extern "C" __global__ void multiply(const float* A, const float* B, float* C)
{
    // Eight rows with eight k each are a core matrix.
    alignas(128) __shared__ unsigned short a_tile[8][2][8][8];
    alignas(128) __shared__ unsigned short b_tile[2][8][8];

    const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
    float sums[4] = {};
    for (int k0 = 0; k0 < 32; k0 += 16) {
        for (int i = t; i < 50 * 16; i += 128)
            a_tile[i / 128][i / 8 % 2][i / 16 % 8][i % 8] = bf16(A[i / 16 * 32 + k0 + i % 16]);
        b_tile[t / 8 % 2][t / 16][t % 8] = bf16(B[t / 16 * 32 + k0 + t % 16]);
        fence_async();
        __syncthreads();  // tiles are filled -> the product may read them
        fence_products();
        multiply_async(sums, describe(a_tile, 128, 256), describe(b_tile, 128, 256));
        commit_products();
        wait_for_products();
        __syncthreads();  // the product is done -> tiles may be overwritten
    }
    for (int i = 0; i < 4; ++i)
        if (row + i / 2 * 8 < 50) C[(row + i / 2 * 8) * 8 + col + i % 2] = sums[i];
}
