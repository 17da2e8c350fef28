// v10_large_warps.cu: larger tiles for fewer warps, which read less of shared memory for each product.
//
// Changed since v10_shared: four warps own 64 x 64 of C each, as 4 x 4 fragments: 16 products for 8 fragments loaded,
// where there were 8 products for 6.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int WM = 64, WN = 64;  // tile of C owned by one warp
constexpr int THREADS = (BM / WM) * (BN / WN) * WARP_SIZE;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
bf16gemm_v10_large_warps(int M, int N, int K, const bf16* A, const bf16* B, float* C)
{
    product<Plan<bf16, WM, WN, From::SHARED>>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS)
tf32gemm_v10_large_warps(int M, int N, int K, const float* A, const float* B, float* C)
{
    product<Plan<tf32, WM, WN, From::SHARED>>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
