// textures.cu: the read-only path, and a texture object.
#include <cuda_runtime.h>

// ANCHOR: read_only
// `const … __restrict__` promises that nobody writes to `in` while this runs: the compiler may use ld.global.nc.
extern "C" __global__ void shift(int n, const float* __restrict__ in, float* __restrict__ out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(i + 1) % n];
}
// ANCHOR_END: read_only

// ANCHOR: texture
// Between the elements, and past the edges: the texture unit interpolates and clamps.
extern "C" __global__ void sample(cudaTextureObject_t line, int n, const float* at, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(line, at[i] + 0.5f);  // element i has its centre at i + 0.5
}
// ANCHOR_END: texture
