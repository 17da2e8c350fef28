// undefined_condition_fixed.cu: a flag that everybody sets.
//
// grid: 1
// block: 64
// arg: x f32[64] filled
// arg: y f32[64] filled
// expect: clean

extern "C" __global__ void mark_peaks(const float* x, float* y)
{
    __shared__ bool peak[64];

    const int i = threadIdx.x;
    peak[i] = x[i] > 8.0f;
    __syncthreads();

    const bool mine = peak[i];
    const bool left = i > 0 && peak[i - 1];
    if (mine || left) y[i] = 1.0f;
}
