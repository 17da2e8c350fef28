// saxpy_doubles.cu: the buffers hold floats, the kernel takes them for doubles.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: y f32[1000] filled

extern "C" __global__ void add(int n, const double* x, double* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = y[i] + x[i];
}
