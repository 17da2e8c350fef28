// global_memory.cu: the same copy, with lanes side by side and with lanes far apart.

// ANCHOR: kernel
// Lane i takes element first + i.
extern "C" __global__ void side_by_side(const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// The lanes of a warp are `stride` elements apart.
extern "C" __global__ void far_apart(int stride, const float* in, float* out)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = gridDim.x * blockDim.x;
    const int i = thread * stride % n + thread * stride / n;
    out[i] = in[i];
}
// ANCHOR_END: kernel
