// v02.rect, a transfer task of 30 minutes: A tile of 16 × 32, 16 deep.
//
// A block of 512 threads owns 16 rows and 32 columns of C and walks along K in steps of 16.
//
// Judged: right on every shape with all checks clean; at most 0.46875 sectors of global loads per
// multiply-add of a warp; at most 2 barriers for 16 steps of k. The tile of A has 256 elements,
// that of B has 512.
//
// Check it with: cargo xtask check v02.rect
//
// Launch: blocks of 512 threads along x, one block per 16 x 32 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(512)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v02): everything
}
