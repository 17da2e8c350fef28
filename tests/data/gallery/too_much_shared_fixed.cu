// too_much_shared_fixed.cu: a quarter of the data fits.
//
// grid: 1
// block: 256
// shared: 16384
// arg: n i32 4096
// arg: x f32[4096] filled
// arg: y f32[4096] empty
// expect: clean

extern __shared__ float tile[];

extern "C" __global__ void reversed(int n, const float* x, float* y)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}
