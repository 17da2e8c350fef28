// aliased_shift.cu: a buffer is shifted by one in place.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: x f32[256] filled

extern "C" __global__ void shift(int n, float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) x[i] = x[i + 1];
}
