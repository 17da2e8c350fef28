// constant_store_broken.cu: a cast takes the const away from constant memory.
//
// grid: 1
// block: 32
// arg: y f32[32] empty
// expect: E-READ-ONLY

__constant__ float weights[4] = {0.1f, 0.2f, 0.3f, 0.4f};

__device__ __noinline__ void scale(float* values, int i) { values[i] *= 2.0f; }

extern "C" __global__ void normalise(float* y)
{
    float* own = const_cast<float*>(weights);
    scale(own, threadIdx.x % 4);
    y[threadIdx.x] = own[threadIdx.x % 4];
}
