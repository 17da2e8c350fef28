// v06.rect, a transfer task of 40 minutes: Fragments of 4 and of 8.
//
// A block of 256 threads owns 64 rows and 128 columns of C and walks along K in steps of 8; a
// thread owns 4 x 8 elements.
//
// Judged: right on every shape with all checks clean; at most 0.1172 loads of shared memory per
// multiply-add (three 16-byte loads for 32 multiply-adds are 0.09375); no excess wavefront; at most
// 0.1406 sectors of global loads per multiply-add of a warp. The tile of A has fewer float4 than
// the block has threads.
//
// Check it with: cargo xtask check v06.rect
//
// Launch: blocks of 256 threads along x, one block per 64 x 128 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
sgemm_rect(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v06): everything
}
