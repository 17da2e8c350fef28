// null_pointer_fixed.cu: both buffers are there.
//
// grid: 1
// block: 64
// arg: x f32[64] filled
// arg: y f32[64] empty
// expect: clean

extern "C" __global__ void copy(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x];
}
