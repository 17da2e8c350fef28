// reduce_total_without_atomic.cu: each block adds its sum to one total without an atomic.
//
// grid: 8
// block: 128
// arg: n i32 1024
// arg: in f32[1024] filled
// arg: total f32[1] zero

extern "C" __global__ void reduce(int n, const float* in, float* total)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = 64; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) *total += s[0];
}
