// streams_and_events.cu: two small pieces of work, one of which needs the other's result.

// ANCHOR: kernel
extern "C" __global__ void fill(int n, float value, float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

extern "C" __global__ void add(int n, const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
// ANCHOR_END: kernel
