// scan_in_place.cu: Hillis-Steele in one buffer, without a barrier between reading and writing.
//
// block: 128
// arg: n i32 128
// arg: in f32[128] filled
// arg: out f32[128] empty

extern "C" __global__ void scan(int n, const float* in, float* out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        if (t >= d) s[t] += s[t - d];
        __syncthreads();
    }
    out[t] = s[t];
}
