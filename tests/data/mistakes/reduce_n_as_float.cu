// reduce_n_as_float.cu: the host passes n as a float.
//
// grid: 8
// block: 256
// arg: n f32 1000
// arg: in f32[1000] filled
// arg: out f32[8] empty

extern "C" __global__ void reduce(int n, const float* in, float* out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
