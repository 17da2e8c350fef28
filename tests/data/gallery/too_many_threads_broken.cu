// too_many_threads_broken.cu: a block of 33 x 32 threads is more than any GPU takes.
//
// grid: 1
// block: 33 32
// arg: x f32[1056] filled
// expect: E-LAUNCH

extern "C" __global__ void scale(float* x)
{
    const int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    x[i] *= 2.0f;
}
