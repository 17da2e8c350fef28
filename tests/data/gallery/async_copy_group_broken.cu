// async_copy_group_broken.cu: the wait leaves one group under way: the one that is read next.
//
// arch: compute_80
// block: 64
// arg: x i32[256] filled
// arg: y i32[64] empty
// expect: E-UNINIT

#include <cuda_pipeline.h>

extern "C" __global__ void add_tiles(const int* x, int* y)
{
    __shared__ int tile[64];

    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        __pipeline_memcpy_async(&tile[t], &x[64 * k + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    y[t] = sum;
}
