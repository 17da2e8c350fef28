// uninitialised_local_broken.cu: a running maximum that starts from nothing.
//
// grid: 1
// block: 32
// arg: x f32[256] filled
// arg: slot i32[32] filled
// arg: y f32[32] empty
// expect: E-UNINIT

extern "C" __global__ void best_of(const float* x, const int* slot, float* y)
{
    float best[8];
    for (int i = 0; i < 7; ++i) best[i] = x[threadIdx.x * 8 + i];
    y[threadIdx.x] = 0.5f * best[slot[threadIdx.x] % 8];
}
