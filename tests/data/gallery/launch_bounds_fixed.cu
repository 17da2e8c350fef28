// launch_bounds_fixed.cu: the launch keeps the promise.
//
// grid: 2
// block: 128
// arg: x f32[256] filled
// expect: clean

extern "C" __global__ void __launch_bounds__(128) scale(float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] *= 2.0f;
}
