// histogram.cu: counts in shared memory first, then added to the global ones.

constexpr int BINS = 64;

extern "C" __global__ void histogram(int n, const unsigned char* data, unsigned* counts)
{
    __shared__ unsigned bins[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[data[i] % BINS], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&counts[i], bins[i]);
}
