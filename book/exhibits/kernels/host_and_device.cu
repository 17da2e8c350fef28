// host_and_device.cu: the smallest kernel that does something.

// ANCHOR: kernel
extern "C" __global__ void twice(int n, float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i];
}
// ANCHOR_END: kernel
