// shared_above_48k_fixed.cu: 12288 floats are 48 KiB.
//
// block: 128
// arg: in f32[16384] filled
// arg: out f32[1] empty
// expect: clean

extern "C" __global__ void sums(const float* in, float* out)
{
    __shared__ float tile[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x) tile[i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 12288; ++i) sum += tile[i];
        *out = sum;
    }
}
