// reduce_stride_of_the_block.cu: the tree starts with blockDim.x instead of half of it.
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
    for (int stride = blockDim.x; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
