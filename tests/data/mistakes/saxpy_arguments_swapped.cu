// saxpy_arguments_swapped.cu: pointers where the count belongs.
//
// grid: 4
// block: 256
// arg: x f32[1000] filled
// arg: y f32[1000] filled
// arg: n i32 1000

extern "C" __global__ void add(int n, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
