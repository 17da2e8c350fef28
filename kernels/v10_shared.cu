// v10_shared.cu: the same with loads that know where the tiles are.
//
// Changed since v10_wmma: fragments are loaded from an address in shared memory. A generic address leaves the compiler
// with loads that find out for each word what memory it is in; one that is known to be shared gives it ldmatrix for
// bf16.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int WM = 64, WN = 32;  // tile of C owned by one warp
constexpr int THREADS = (BM / WM) * (BN / WN) * WARP_SIZE;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
bf16gemm_v10_shared(int M, int N, int K, const bf16* A, const bf16* B, float* C)
{
    product<Plan<bf16, WM, WN, From::SHARED>>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
tf32gemm_v10_shared(int M, int N, int K, const float* A, const float* B, float* C)
{
    product<Plan<tf32, WM, WN, From::SHARED>>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
