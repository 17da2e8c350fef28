// launch_bounds_broken.cu: the kernel promises at most 128 threads and is launched with 256.
//
// grid: 1
// block: 256
// arg: x f32[256] filled
// expect: E-LAUNCH

extern "C" __global__ void __launch_bounds__(128) scale(float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] *= 2.0f;
}
