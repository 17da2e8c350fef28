// v05.wide, a transfer task of 40 minutes: A 64 × 128 tile, 16 deep.
//
// A block of 256 threads owns 64 rows and 128 columns of C and walks along K in steps of 16; a
// thread owns 4 x 8 elements. Keep the tile of A transposed, as in v05, or find another layout.
//
// Judged: right on every shape with all checks clean; no excess wavefront at all; at most 0.2
// sectors of global loads per multiply-add of a warp. The padding of v05 is wrong here: compute it.
//
// Check it with: cargo xtask check v05.wide
//
// Launch: blocks of 256 threads along x, one block per 64 x 128 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
sgemm_wide(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v05): everything
}
