// v02.tn, a transfer task of 30 minutes: Tiles of a column-major A.
//
// A is stored transposed: A[row][k] lies at A[k * M + row]. B and C are row-major. A block of 1024
// threads owns 32 x 32 elements of C.
//
// Judged: right on every shape with all checks clean; at most 0.3125 sectors of global loads per
// multiply-add of a warp (both tiles loaded along rows of what is stored); at most 2 barriers for
// 32 steps of k. Loading the tile of A as v02 does moves 32 sectors for each load.
//
// Check it with: cargo xtask check v02.tn
//
// Launch: blocks of 1024 threads along x, one block per 32 x 32 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024)
sgemm_tn(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v02): everything
}
