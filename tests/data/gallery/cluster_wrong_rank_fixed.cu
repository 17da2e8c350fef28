// cluster_wrong_rank_fixed.cu: the neighbour is a block of the same cluster, by its rank.
//
// arch: compute_90
// grid: 8
// block: 64
// arg: x i32[512] filled
// arg: y i32[512] empty
// expect: clean

#include "cluster.cuh"

extern "C" __global__ void __cluster_dims__(4, 1, 1) shift(const int* x, int* y)
{
    __shared__ int tile[64];

    const int t = threadIdx.x;
    const int i = blockIdx.x * 64 + t;
    const unsigned next = (cluster_rank() + 1) % cluster_blocks();
    tile[t] = x[i];
    cluster_sync();
    y[i] = in_block(tile, next)[t];
    cluster_sync();
}
