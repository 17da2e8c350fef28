// v01.tt, a transfer task of 20 minutes: Both operands stored transposed.
//
// Multiply A and B where both are stored transposed: A[row][k] lies at A[k * M + row], and
// B[k][col] at B[col * K + k]. C is row-major as ever. One thread per element of C; a block of 1024
// threads owns 32 x 32 of them.
//
// Judged: right on every shape, and at most 6 sectors of global loads for each multiply-add of a
// warp. The map of v01 moves 33 here. The store of C may be slow: it happens once per thread, not
// once per k.
//
// Check it with: cargo xtask check v01.tt
//
// Launch: blocks of 1024 threads along x, one block per 32 x 32 of C: blockIdx.x counts tiles along
// N, blockIdx.y along M.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024)
sgemm_tt(int M, int N, int K, const float* A, const float* B, float* C)
{
    // TODO(v01): everything
}
