// grid_stride_wrong_step.cu: the grid-stride loop steps by the block: elements are done twice.
//
// grid: 4
// block: 64
// arg: n i32 1024
// arg: x f32[1024] filled

extern "C" __global__ void twice(int n, float* x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        x[i] *= 2.0f;
}
