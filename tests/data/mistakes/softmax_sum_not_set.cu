// softmax_sum_not_set.cu: the sum is never set to 0.
//
// block: 64
// arg: n i32 64
// arg: in f32[64] filled
// arg: out f32[64] empty

extern "C" __global__ void softmax(int n, const float* in, float* out)
{
    __shared__ float sum;
    float e = expf(in[threadIdx.x]);
    atomicAdd(&sum, e);
    __syncthreads();
    out[threadIdx.x] = e / sum;
}
