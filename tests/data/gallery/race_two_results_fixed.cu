// race_two_results_fixed.cu: one thread chooses the reference.
//
// grid: 1
// block: 128
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: clean

extern "C" __global__ void relative(const float* x, float* y)
{
    __shared__ float reference;

    if (threadIdx.x == 0) reference = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] - reference;
}
