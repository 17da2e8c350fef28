// async_copy_fixed.cu: each thread waits for its copies, then the barrier lets all see them.
//
// arch: compute_80
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

#include <cuda_pipeline.h>

extern "C" __global__ void reverse(const int* x, int* y)
{
    __shared__ int tile[64];

    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = tile[63 - t];
}
