// v03.rect, a transfer task of 40 minutes: 4 × 8 elements per thread, 64 × 128 per block.
//
// A block of 256 threads owns 64 rows and 128 columns of C and walks along K in steps of 8; a
// thread owns 32 elements.
//
// Judged: right on every shape with all checks clean; at most 0.5625 words of shared memory per
// multiply-add (4 x 8 elements per thread need 0.375); at most 0.1172 sectors of global loads per
// multiply-add of a warp. The tiles of A and B have 512 and 1024 elements.
//
// Check it with: cargo xtask check v03.rect
//
// Launch: blocks of 256 threads along x, one block per 64 x 128 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v03): everything
}
