// null_pointer_broken.cu: one of the buffers was never allocated.
//
// grid: 1
// block: 64
// arg: x f32[64] filled
// arg: y null
// expect: E-OOB

extern "C" __global__ void copy(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x];
}
