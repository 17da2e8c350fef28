// flags.cu: blocks hand over data through flags: volatile with fences, and acquire with release.
// arch: compute_80

extern "C" __global__ void last_block(int n, const int* x, volatile int* partial, unsigned* arrived, int* total)
{
    __shared__ bool last;
    const int thread = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (thread == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && thread == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
        *total = all;
    }
}

__device__ int load_acquire(const int* p)
{
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__device__ void store_release(int* p, int v)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// Block b waits for block b - 1 and adds to what it left.
extern "C" __global__ void relay(int* flag, int* value)
{
    if (threadIdx.x != 0) return;
    const int b = blockIdx.x;
    int before = 0;
    if (b > 0) {
        while (load_acquire(&flag[b - 1]) == 0) {}
        before = value[b - 1];
    }
    value[b] = before + b * b;
    store_release(&flag[b], 1);
}
