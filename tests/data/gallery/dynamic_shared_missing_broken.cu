// dynamic_shared_missing_broken.cu: the launch forgets the size of the dynamic shared array.
//
// grid: 1
// block: 128
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: E-OOB

extern __shared__ float tile[];

extern "C" __global__ void reversed(const float* x, float* y)
{
    const int thread = threadIdx.x;
    tile[thread] = x[thread];
    __syncthreads();
    y[thread] = tile[blockDim.x - 1 - thread];
}
