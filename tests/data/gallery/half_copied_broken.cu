// half_copied_broken.cu: half of b was copied, the rest of it is read nevertheless.
//
// grid: 4
// block: 256
// arg: n i32 1024
// arg: a f32[1024] half
// arg: b f32[1024] half
// arg: c f32[1024] empty
// expect: E-UNINIT

extern "C" __global__ void add(int n, const float* a, const float* b, float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
