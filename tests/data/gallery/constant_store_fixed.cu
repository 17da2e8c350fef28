// constant_store_fixed.cu: the thread changes its own copy.
//
// grid: 1
// block: 32
// arg: y f32[32] empty
// expect: clean

__constant__ float weights[4] = {0.1f, 0.2f, 0.3f, 0.4f};

__device__ __noinline__ void scale(float* values, int i) { values[i] *= 2.0f; }

extern "C" __global__ void normalise(float* y)
{
    float own[4];
    for (int i = 0; i < 4; ++i) own[i] = weights[i];
    scale(own, threadIdx.x % 4);
    y[threadIdx.x] = own[threadIdx.x % 4];
}
