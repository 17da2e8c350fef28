// result_integer_division.cu: a wrong result without a wrong access: an integer division rounds a factor to 0.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in f32[256] filled
// arg: out f32[256] empty

extern "C" __global__ void mean_of(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (1 / n) * in[i];
}
