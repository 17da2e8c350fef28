// reduce_warp_tail_no_syncwarp.cu: the last steps of the tree inside a warp without __syncwarp().
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
    for (int stride = 128; stride > 16; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t < 16) {
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
