// saxpy_null.cu: the output was never allocated.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: y null

extern "C" __global__ void copy(int n, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
