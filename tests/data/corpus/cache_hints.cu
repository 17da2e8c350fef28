// cache_hints.cu: loads and stores with cache operators change nothing in the result.

extern "C" __global__ void hints(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __ldg(&in[i]) + __ldca(&in[i]) + __ldcg(&in[i]) + __ldcs(&in[i]) + __ldlu(&in[i]) + __ldcv(&in[i]);
    __stwb(&out[i], v);
    __stcg(&out[n + i], v);
    __stcs(&out[2 * n + i], v);
    __stwt(&out[3 * n + i], v);
}
