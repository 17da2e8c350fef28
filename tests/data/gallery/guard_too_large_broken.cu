// guard_too_large_broken.cu: n is larger than the buffers, so its guard lets too many threads pass.
//
// grid: 8
// block: 256
// arg: n i32 2000
// arg: factor f32 2
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// expect: E-OOB

extern "C" __global__ void scale(int n, float factor, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = factor * in[i];
    }
}
