// small_floats.cu: sums of half and bfloat16, which NVIDIA's headers make of compare-and-swap on older GPUs.
//
// arch: compute_75
// grid: 4
// block: 32
// arg: sums i32[2] zero
// gives: sums 0 1476395008

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void count(int* sums)
{
    __half* halves = reinterpret_cast<__half*>(sums);
    __nv_bfloat16* others = reinterpret_cast<__nv_bfloat16*>(sums + 1);
    atomicAdd(halves + 1, __float2half(1.0f));
    atomicAdd(others + threadIdx.x % 2, __float2bfloat16(1.0f));
    atomicAdd(reinterpret_cast<__nv_bfloat162*>(others), __float2bfloat162_rn(1.0f));
}
