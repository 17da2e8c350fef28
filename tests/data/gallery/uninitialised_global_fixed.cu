// uninitialised_global_fixed.cu: the kernel sets C.
//
// grid: 2
// block: 128
// arg: n i32 256
// arg: x f32[256] filled
// arg: C f32[256] empty
// expect: clean

extern "C" __global__ void accumulate(int n, const float* x, float* C)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = x[i] * x[i];
}
