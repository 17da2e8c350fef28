// too_much_shared_broken.cu: the launch asks for more shared memory than a block gets without asking for it first.
//
// grid: 1
// block: 256
// shared: 65536
// arg: n i32 16384
// arg: x f32[16384] filled
// arg: y f32[16384] empty
// expect: E-LAUNCH

extern __shared__ float tile[];

extern "C" __global__ void reversed(int n, const float* x, float* y)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}
