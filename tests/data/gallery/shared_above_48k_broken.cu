// shared_above_48k_broken.cu: a __shared__ array is larger than a block may declare.
//
// block: 128
// arg: in f32[16384] filled
// arg: out f32[1] empty
// expect: E-LOAD

extern "C" __global__ void sums(const float* in, float* out)
{
    __shared__ float tile[16384];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) tile[i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 16384; ++i) sum += tile[i];
        *out = sum;
    }
}
