// same_element_fixed.cu: each thread has its own element.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in f32[256] filled
// arg: out f32[256] empty
// expect: clean

extern "C" __global__ void scale(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2.0f;
    }
}
