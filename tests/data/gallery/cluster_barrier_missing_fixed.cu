// cluster_barrier_missing_fixed.cu: all blocks of the cluster have written their sums before one adds them up.
//
// arch: compute_90
// grid: 8
// block: 64
// arg: x i32[512] filled
// arg: y i32[2] empty
// expect: clean

#include "cluster.cuh"

extern "C" __global__ void __cluster_dims__(4, 1, 1) sum(const int* x, int* y)
{
    __shared__ int total;

    const int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[blockIdx.x * 64 + t]);
    cluster_sync();
    if (t == 0 && cluster_rank() == 0) {
        int all = 0;
        for (unsigned rank = 0; rank < cluster_blocks(); rank++) all += *in_block(&total, rank);
        y[blockIdx.x / 4] = all;
    }
    cluster_sync();
}
