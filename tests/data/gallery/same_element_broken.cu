// same_element_broken.cu: the index leaves threadIdx out, so that all threads of a block write one element.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in f32[256] filled
// arg: out f32[256] empty
// expect: W-RACE-EQUAL

extern "C" __global__ void scale(int n, const float* in, float* out)
{
    const int i = blockIdx.x;
    if (i < n) {
        out[i] = 2.0f;
    }
}
