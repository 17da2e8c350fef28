// thread_index_alone.cu: the block is left out of the index: all blocks write to the same elements.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in f32[256] filled
// arg: out f32[256] empty

extern "C" __global__ void scale(int n, const float* in, float* out)
{
    int i = threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i + blockIdx.x * 64];
}
