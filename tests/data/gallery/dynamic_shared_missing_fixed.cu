// dynamic_shared_missing_fixed.cu: the launch gives the array its size.
//
// grid: 1
// block: 128
// shared: 512
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: clean

extern __shared__ float tile[];

extern "C" __global__ void reversed(const float* x, float* y)
{
    const int thread = threadIdx.x;
    tile[thread] = x[thread];
    __syncthreads();
    y[thread] = tile[blockDim.x - 1 - thread];
}
