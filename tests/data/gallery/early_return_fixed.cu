// early_return_fixed.cu: every thread helps, and those past the end store nothing.
//
// grid: 1
// block: 128
// arg: n i32 100
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: clean

constexpr int BLOCK = 128;

extern "C" __global__ void reversed(int n, const float* x, float* y)
{
    __shared__ float tile[BLOCK];

    const int thread = threadIdx.x;
    tile[thread] = thread < n ? x[thread] : 0.0f;
    __syncthreads();
    if (thread < n) y[thread] = tile[BLOCK - 1 - thread];
}
