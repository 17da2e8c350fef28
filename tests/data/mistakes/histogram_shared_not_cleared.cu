// histogram_shared_not_cleared.cu: the bins in shared memory are not set to 0.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in i32[256] mod4
// arg: bins i32[4] zero

extern "C" __global__ void histogram(int n, const int* in, int* bins)
{
    __shared__ int mine[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
