// halves.cu: half precision: scalar, packed, conversions, comparisons.
#include <cuda_fp16.h>

extern "C" __global__ void axpy_half(int n, float a, const __half* x, __half* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}

extern "C" __global__ void axpy_half2(int n, float a, const __half2* x, __half2* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

extern "C" __global__ void various(const __half* x, const __half* y, float* out)
{
    const int i = threadIdx.x;
    const __half a = x[i];
    const __half b = y[i];
    out[8 * i + 0] = __half2float(__hadd(a, b));
    out[8 * i + 1] = __half2float(__hsub(a, b));
    out[8 * i + 2] = __half2float(__hmul(a, b));
    out[8 * i + 3] = __half2float(__hneg(a)) + __half2float(__habs(b));
    out[8 * i + 4] = __hlt(a, b) ? 1.0f : 0.0f;
    out[8 * i + 5] = __half2float(__float2half_rn(__half2float(a) * 1.0001f));
    out[8 * i + 6] = (float)__half2int_rz(a) + (float)__half2uint_rn(__habs(b));
    const __half2 pair = __halves2half2(a, b);
    out[8 * i + 7] = __low2float(__hadd2(pair, pair)) + __high2float(__hmul2(pair, pair));
}
