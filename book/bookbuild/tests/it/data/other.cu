// ANCHOR: kernel
__global__ void add(int n, float* x)
{
    // ANCHOR: map
    const int i = threadIdx.x * gridDim.x + blockIdx.x;
    // ANCHOR_END: map
    if (i < n) x[i] += 1.0f;
}
// ANCHOR_END: kernel
