extern "C" __global__ void kernel(int n, const float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}
