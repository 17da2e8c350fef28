// off_by_one_fixed.cu: the last element has no right neighbour, so nobody asks for it.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: slope f32[1000] empty
// expect: clean

extern "C" __global__ void differences(int n, const float* x, float* slope)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) slope[i] = x[i + 1] - x[i];
}
