// use_after_free_broken.cu: the host freed x before the launch.
//
// grid: 1
// block: 128
// arg: x f32[128] freed
// arg: y f32[128] empty
// expect: E-FREED

extern "C" __global__ void doubled(const float* x, float* y)
{
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
