// too_many_threads_fixed.cu: two blocks share the work.
//
// grid: 2
// block: 33 16
// arg: x f32[1056] filled
// expect: clean

extern "C" __global__ void scale(float* x)
{
    const int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    x[i] *= 2.0f;
}
