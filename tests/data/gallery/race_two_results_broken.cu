// race_two_results_broken.cu: every thread stores its own answer in one place.
//
// grid: 1
// block: 128
// arg: x f32[128] filled
// arg: y f32[128] empty
// expect: E-RACE

extern "C" __global__ void relative(const float* x, float* y)
{
    __shared__ float reference;

    reference = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] - reference;
}
