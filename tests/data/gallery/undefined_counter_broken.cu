// undefined_counter_broken.cu: a histogram in shared memory that nobody clears.
//
// grid: 2
// block: 64
// arg: x i32[128] filled
// arg: counts i32[16] filled
// expect: E-UNINIT

extern "C" __global__ void histogram(const int* x, int* counts)
{
    __shared__ int bins[16];

    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 64 + threadIdx.x] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
