// async_copy_broken.cu: nobody waits for the copies: a barrier alone does not.
//
// arch: compute_80
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: E-UNINIT

#include <cuda_pipeline.h>

extern "C" __global__ void reverse(const int* x, int* y)
{
    __shared__ int tile[64];

    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __syncthreads();
    y[t] = tile[63 - t];
}
