// saxpy_n_too_large.cu: n counts bytes, not elements.
//
// grid: 16
// block: 256
// arg: n i32 4000
// arg: a f32 2
// arg: x f32[1000] filled
// arg: y f32[1000] filled

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
