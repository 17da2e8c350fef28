// reduce_all_write.cu: all threads write the block's sum before it is one.
//
// grid: 4
// block: 256
// arg: n i32 1024
// arg: in f32[1024] filled
// arg: out f32[4] empty

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
    out[blockIdx.x] = s[t];
}
