// half_copied_fixed.cu: all of b was copied.
//
// grid: 4
// block: 256
// arg: n i32 1024
// arg: a f32[1024] filled
// arg: b f32[1024] filled
// arg: c f32[1024] empty
// expect: clean

extern "C" __global__ void add(int n, const float* a, const float* b, float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
