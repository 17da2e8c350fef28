// helpers_in_header_broken.cu: the accesses that race stand in a header, the missing barrier belongs into this file.
//
// block: 64
// arg: x f32[64] filled
// arg: y f32[64] empty
// expect: E-RACE
#include "element.cuh"

extern "C" __global__ void mirror(const float* x, float* y)
{
    __shared__ float tile[64];

    const int i = threadIdx.x;
    put(&tile[i], x[i]);
    y[i] = get(&tile[63 - i]);
}
