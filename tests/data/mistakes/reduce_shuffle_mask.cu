// reduce_shuffle_mask.cu: a shuffle names all lanes under a condition that half of them meet.
//
// grid: 1
// block: 32
// arg: in f32[32] filled
// arg: out f32[1] empty

extern "C" __global__ void reduce(const float* in, float* out)
{
    float v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int d = 8; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
    }
    if (threadIdx.x == 0) *out = v;
}
