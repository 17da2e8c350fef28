// scan_doubles_zero.cu: the distance starts with 0 and is doubled.
//
// block: 128
// budget: 2000000
// arg: n i32 128
// arg: in f32[128] filled
// arg: out f32[128] empty

extern "C" __global__ void scan(int n, const float* in, float* out)
{
    __shared__ float s[2][128];
    int t = threadIdx.x;
    int from = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int d = 0; d < n; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[t] = s[from][t];
}
