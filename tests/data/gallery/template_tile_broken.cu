// template_tile_broken.cu: the sizes of the tile are template parameters, and the loop over it runs one row too far.
//
// block: 8 16
// arg: in f32[128] filled
// arg: out f32[128] empty
// expect: E-OOB

template <int BM, int BK>
__global__ void __launch_bounds__(BM * BK) transpose(const float* in, float* out)
{
    __shared__ float a_tile[BK][BM];
    a_tile[threadIdx.x][threadIdx.y] = in[threadIdx.y * BK + threadIdx.x];
    __syncthreads();
    const int i = threadIdx.y * BK + threadIdx.x;
    out[i] = a_tile[i / BM + 1][i % BM];
}

template __global__ void transpose<16, 8>(const float*, float*);
