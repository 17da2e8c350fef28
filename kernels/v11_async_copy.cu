// v11_async_copy.cu: large tiles, copied while threads multiply.
//
// Changed since v11_free_banks: the copies. cp.async brings tiles to shared memory past the registers, three steps
// ahead of their use, and A stays as it lies: a thread reads four k of a row with one load. No register holds what is
// on its way, and nothing is transposed.
// A thread owns 8 x 16 of C for it, and tiles are 16 deep. Unchanged: the tile of C, sums times alpha, guards.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C, shared memory as the launch says.
// arch: compute_80
// options: --ptxas-options=-O1
#include "v11_copy.cuh"

// ANCHOR: kernel
using Large = Tile<256, 128, 16, 8, 16, 1>;  // of C; k of a pair of tiles; of a thread; slices

extern "C" __global__ void __launch_bounds__(Large::THREADS, 1)
sgemm_v11_async_copy(int M, int N, int K, float alpha, const float* A, const float* B, float* C)
{
    multiply_tile<Large, 4>(M, N, K, alpha, A, B, 0.0f, C);
}
// ANCHOR_END: kernel
