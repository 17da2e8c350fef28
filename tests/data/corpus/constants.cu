// constants.cu: constant memory, global variables with initial values, pointers chosen at run time.

__constant__ float filter[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__device__ int counter = 40;
__device__ const short table[2][3] = {{1, -2, 3}, {400, -500, 600}};

extern "C" __global__ void convolve(int n, const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        const int at = i + k - 2;
        if (at >= 0 && at < n) sum += filter[k] * in[at];
    }
    out[i] = sum;
}

extern "C" __global__ void lookup(int* out)
{
    __shared__ float scratch[32];
    const int i = threadIdx.x;
    scratch[i] = i * 2.0f;
    __syncthreads();
    const float* from = i % 2 ? scratch : filter;
    out[i] = table[i % 2][i % 3] + (int)(from[i % 5] * 16.0f);
    if (i == 0) atomicAdd(&counter, 2);
    if (i == 0) out[32] = counter;
}
