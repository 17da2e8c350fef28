// v11_slices.cu: groups of warps share a small tile of C by the k that they take.
//
// Changed since v11_small_tile: a block owns so little of C that one warp holds it, and has four warps: of the 32 k of
// each pair of tiles the first takes 0 .. 8, the second 8 .. 16, and so on. At the end their sums meet in shared
// memory.
// A product of 256 x 256 makes 128 blocks of 16 x 32 so, and each has four warps to hide what it waits for. Tiles are
// copied to shared memory without passing through registers, several steps ahead (cp.async), and A is not transposed
// on its way: a thread reads four k of a row at once.
// Unchanged: sums times alpha, guards.
// Any M, N, K. Launch: THREADS threads, one block per tile of C, shared memory as the launch says.
// arch: compute_80
#include "v11_copy.cuh"

// ANCHOR: kernel
using Tile16x32 = Tile<16, 32, 32, 4, 4, 4>;  // of C; k of a pair of tiles; of a thread; slices
using Tile32x32 = Tile<32, 32, 32, 8, 4, 4>;

extern "C" __global__ void __launch_bounds__(Tile16x32::THREADS, 4)
sgemm_v11_slices_16x32(int M, int N, int K, float alpha, const float* A, const float* B, float* C)
{
    multiply_tile<Tile16x32, 4>(M, N, K, alpha, A, B, 0.0f, C);
}

extern "C" __global__ void __launch_bounds__(Tile32x32::THREADS, 2)
sgemm_v11_slices_32x32(int M, int N, int K, float alpha, const float* A, const float* B, float* C)
{
    multiply_tile<Tile32x32, 6>(M, N, K, alpha, A, B, 0.0f, C);
}
// ANCHOR_END: kernel
