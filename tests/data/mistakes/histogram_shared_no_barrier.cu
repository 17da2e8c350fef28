// histogram_shared_no_barrier.cu: no barrier after the bins are cleared.
//
// grid: 4
// block: 64
// arg: n i32 256
// arg: in i32[256] mod4
// arg: bins i32[4] zero

extern "C" __global__ void histogram(int n, const int* in, int* bins)
{
    __shared__ int mine[4];
    if (threadIdx.x < 4) mine[threadIdx.x] = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
