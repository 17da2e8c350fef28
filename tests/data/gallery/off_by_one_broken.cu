// off_by_one_broken.cu: the last thread reads one element past the end of x.
//
// grid: 4
// block: 256
// arg: n i32 1000
// arg: x f32[1000] filled
// arg: slope f32[1000] empty
// expect: E-OOB

extern "C" __global__ void differences(int n, const float* x, float* slope)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) slope[i] = x[i + 1] - x[i];
}
