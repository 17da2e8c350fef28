// local_out_of_bounds_broken.cu: the thread keeps four values and asks for a fifth.
//
// grid: 1
// block: 32
// arg: x f32[32] filled
// arg: pick i32[32] filled
// arg: y f32[32] empty
// expect: E-OOB

extern "C" __global__ void powers(const float* x, const int* pick, float* y)
{
    float power[4];
    power[0] = 1.0f;
    for (int i = 1; i < 4; ++i) power[i] = power[i - 1] * x[threadIdx.x];
    y[threadIdx.x] = power[pick[threadIdx.x] % 5];
}
