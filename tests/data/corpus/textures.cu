// textures.cu: fetches through texture objects.
#include <cuda_runtime.h>

extern "C" __global__ void textures(cudaTextureObject_t line, cudaTextureObject_t plane, int n, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i + 0] = tex1Dfetch<float>(line, i);
    out[4 * i + 1] = tex2D<float>(plane, i + 0.5f, 2.5f);
    const float4 v = tex2D<float4>(plane, i * 0.37f, i * 0.11f);
    out[4 * i + 2] = v.x + v.w;
    out[4 * i + 3] = tex1D<float>(line, i * 0.25f);
}
