// pipeline.cu: asynchronous copies, one tile ahead of the work.
//
// arch: compute_80
// block: 64
// arg: n i32 4
// arg: x i32[256] filled
// arg: y i32[64] empty
// gives: y 0 636
// gives: y 63 384

#include <cuda_pipeline.h>

extern "C" __global__ void add_tiles(int n, const int* x, int* y)
{
    __shared__ int tile[2][64];

    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < n; ++k) {
        if (k + 1 < n) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &x[64 * (k + 1) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k % 2][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}
