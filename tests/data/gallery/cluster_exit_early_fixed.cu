// cluster_exit_early_fixed.cu: no block ends before the others have read its tile.
//
// arch: compute_90
// grid: 4
// block: 64
// arg: x i32[256] filled
// arg: y i32[256] empty
// expect: clean

#include "cluster.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(const int* x, int* y)
{
    __shared__ int tile[64];

    const int t = threadIdx.x;
    const int i = blockIdx.x * 64 + t;
    tile[t] = x[i];
    cluster_sync();
    const int* other = in_block(tile, (cluster_rank() + 1) % cluster_blocks());
    y[i] = other[63 - t];
    cluster_sync();
}
