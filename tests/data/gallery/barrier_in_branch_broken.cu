// barrier_in_branch_broken.cu: only some threads pass the barrier inside the branch.
//
// grid: 1
// block: 256
// arg: x f32[256] filled
// arg: y f32[256] empty
// expect: E-BARRIER

extern "C" __global__ void halves(const float* x, float* y)
{
    __shared__ float tile[256];

    const int thread = threadIdx.x;
    tile[thread] = x[thread];
    if (thread < 100) {
        __syncthreads();
        tile[thread] *= 2.0f;
    }
    __syncthreads();
    y[thread] = tile[255 - thread];
}
