// stencil_halo_not_loaded.cu: the halo of the tile is read and was never filled.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: in f32[1000] filled
// arg: out f32[1000] empty

#define BLOCK 256
extern "C" __global__ void smooth(int n, const float* in, float* out)
{
    __shared__ float s[BLOCK + 2];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    s[t + 1] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = 0.5f * (s[t] + s[t + 2]);
}
