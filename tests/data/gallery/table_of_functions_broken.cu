// table_of_functions_broken.cu: the last entry of a table of functions is missing, and some threads call it.
//
// block: 32
// arg: x f32[32] filled
// arg: y f32[32] empty
// expect: E-CALL

typedef float (*Operation)(float);

__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float twice(float x) { return 2.0f * x; }
__device__ Operation operations[4] = {square, twice, square};

extern "C" __global__ void apply(const float* x, float* y)
{
    const int thread = threadIdx.x;
    y[thread] = operations[thread % 4](x[thread]);
}
