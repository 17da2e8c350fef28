// arguments_swapped_fixed.cu: the arguments are in the order of the parameters.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: in f32[1000] filled
// arg: out f32[1000] empty
// expect: clean

extern "C" __global__ void twice(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f * in[i];
    }
}
