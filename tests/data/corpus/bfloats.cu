// bfloats.cu: bfloat16, which has its own multiply-add since sm_80.
// arch: compute_80
#include <cuda_bf16.h>

extern "C" __global__ void axpy_bf16(int n, float a, const __nv_bfloat16* x, __nv_bfloat16* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(__float2bfloat16(a), x[i], y[i]);
}

extern "C" __global__ void pairs_bf16(int n, const __nv_bfloat162* x, __nv_bfloat162* y, float* sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __nv_bfloat162 v = __hfma2(x[i], y[i], x[i]);
    y[i] = v;
    sums[i] = __low2float(v) + __high2float(v);
}
