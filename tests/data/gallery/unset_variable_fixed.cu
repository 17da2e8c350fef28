// unset_variable_fixed.cu: each sum starts at 0.
//
// block: 32
// arg: n i32 8
// arg: x f32[256] filled
// arg: y f32[32] empty
// expect: clean

extern "C" __global__ void sum_rows(int n, const float* x, float* y)
{
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += x[t * n + i];
    y[t] = sum;
}
