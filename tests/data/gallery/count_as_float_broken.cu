// count_as_float_broken.cu: the host gives n as a float, and its bits are read as a large number.
//
// grid: 8
// block: 256
// arg: n f32 1000
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
