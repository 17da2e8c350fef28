// reduce_endless.cu: the stride is halved while it is at least 0.
//
// grid: 1
// block: 256
// budget: 5000000
// arg: n i32 256
// arg: in f32[256] filled
// arg: out f32[1] empty

extern "C" __global__ void reduce(int n, const float* in, float* out)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = t < n ? in[t] : 0.0f;
    s[t + 256] = 0.0f;
    __syncthreads();
    for (int stride = 128; stride >= 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}
