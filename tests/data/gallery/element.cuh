// element.cuh: reading and writing one element, for kernels that include it.
#pragma once

__device__ __forceinline__ void put(float* to, float value)
{
    *to = value;
}

__device__ __forceinline__ float get(const float* from)
{
    return *from;
}
