// softmax_shared_max_race.cu: every thread writes the largest value it knows.
//
// block: 64
// arg: n i32 64
// arg: in f32[64] filled
// arg: out f32[64] empty

extern "C" __global__ void softmax(int n, const float* in, float* out)
{
    __shared__ float m;
    __shared__ float sum;
    float x = in[threadIdx.x];
    if (threadIdx.x == 0) { m = x; sum = 0.0f; }
    __syncthreads();
    m = x > m ? x : m;
    __syncthreads();
    float e = expf(x - m);
    atomicAdd(&sum, e);
    __syncthreads();
    out[threadIdx.x] = e / sum;
}
