// barrier_in_branch_fixed.cu: all threads meet at each barrier.
//
// grid: 1
// block: 256
// arg: x f32[256] filled
// arg: y f32[256] empty
// expect: clean

extern "C" __global__ void halves(const float* x, float* y)
{
    __shared__ float tile[256];

    const int thread = threadIdx.x;
    tile[thread] = x[thread];
    __syncthreads();
    if (thread < 100) tile[thread] *= 2.0f;
    __syncthreads();
    y[thread] = tile[255 - thread];
}
