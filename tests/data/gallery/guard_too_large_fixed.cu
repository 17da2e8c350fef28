// guard_too_large_fixed.cu: n is what the buffers hold.
//
// grid: 8
// block: 256
// arg: n i32 1000
// arg: factor f32 2
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// expect: clean

extern "C" __global__ void scale(int n, float factor, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = factor * in[i];
    }
}
