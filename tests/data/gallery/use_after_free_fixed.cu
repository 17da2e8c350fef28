// use_after_free_fixed.cu: x is alive.
//
// grid: 1
// block: 128
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: clean

extern "C" __global__ void doubled(const float* x, float* y)
{
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
