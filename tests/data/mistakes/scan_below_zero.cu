// scan_below_zero.cu: the neighbour is read without asking whether there is one.
//
// block: 128
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
    for (int d = 1; d < n; d *= 2) {
        s[1 - from][t] = s[from][t] + s[from][t - d];
        from = 1 - from;
        __syncthreads();
    }
    out[t] = s[from][t];
}
