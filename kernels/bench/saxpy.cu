// saxpy.cu: y = a * x + y, the smallest kernel that does something.
//
// One thread per element; neighbouring lanes own neighbouring elements.

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
