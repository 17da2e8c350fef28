// undefined_index_broken.cu: an order of elements that was written for the first half only.
//
// grid: 1
// block: 64
// arg: x f32[64] filled
// arg: y f32[64] empty
// expect: E-UNINIT

extern "C" __global__ void reorder(const float* x, float* y)
{
    __shared__ int order[64];

    if (threadIdx.x < 32) order[threadIdx.x] = 63 - threadIdx.x;
    __syncthreads();

    const int from = order[threadIdx.x];
    y[threadIdx.x] = x[from];
}
