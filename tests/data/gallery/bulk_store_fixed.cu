// bulk_store_fixed.cu: a fence of the async proxy stands between the stores to the tile and the bulk copy that reads it.
//
// arch: compute_90
// block: 64
// arg: x i32[64] filled
// arg: y i32[64] empty
// expect: clean

#include "mbarrier.cuh"

extern "C" __global__ void reverse(const int* x, int* y)
{
    alignas(16) __shared__ int tile[64];

    const int t = threadIdx.x;
    tile[63 - t] = x[t];
    fence_async();
    __syncthreads();
    if (t == 0) copy_out(y, tile, sizeof tile);
}
