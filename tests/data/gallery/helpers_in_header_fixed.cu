// helpers_in_header_fixed.cu: the barrier between the calls of the two helpers.
//
// block: 64
// arg: x f32[64] filled
// arg: y f32[64] empty
// expect: clean
#include "element.cuh"

extern "C" __global__ void mirror(const float* x, float* y)
{
    __shared__ float tile[64];

    const int i = threadIdx.x;
    put(&tile[i], x[i]);
    __syncthreads();  // writes to tile done -> reads may start
    y[i] = get(&tile[63 - i]);
}
