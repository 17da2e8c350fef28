// reduce_dynamic_shared_in_elements.cu: dynamic shared memory given in elements.
//
// grid: 4
// block: 256
// shared: 256
// arg: n i32 1024
// arg: in f32[1024] filled
// arg: out f32[4] empty

extern "C" __global__ void reduce(int n, const float* in, float* out)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
