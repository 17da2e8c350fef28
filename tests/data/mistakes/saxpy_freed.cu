// saxpy_freed.cu: the input was freed before the launch.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: x f32[1000] freed
// arg: y f32[1000] empty

extern "C" __global__ void copy(int n, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
