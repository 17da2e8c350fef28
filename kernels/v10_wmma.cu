// v10_wmma.cu: v07's plan on tensor cores: a warp's fragments in place of a thread's registers.
//
// Changed since v07: the inner loop, and with it who owns what. Eight warps own 64 x 32 of C each, as 4 x 2 fragments;
// a product of fragments is 16 x 16 x 16 multiply-adds of bf16 (x 8 of TF32) in one instruction of a warp.
// Fragments are loaded as mma.h does it: from a generic address.
// Any M, N, K. Launch: THREADS threads, one block per BM x BN of C.
//
// arch: compute_80
#include "v10_plan.cuh"

constexpr int WM = 64, WN = 32;  // tile of C owned by one warp
constexpr int THREADS = (BM / WM) * (BN / WN) * WARP_SIZE;

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
bf16gemm_v10_wmma(int M, int N, int K, const bf16* A, const bf16* B, float* C)
{
    product<Plan<bf16, WM, WN, From::ANYWHERE>>(M, N, K, A, B, C);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
tf32gemm_v10_wmma(int M, int N, int K, const float* A, const float* B, float* C)
{
    product<Plan<tf32, WM, WN, From::ANYWHERE>>(M, N, K, A, B, C);
}
// ANCHOR_END: kernel
