// atomics.cu: every kind, type and scope of atomic, on global and shared memory.
// arch: compute_80

extern "C" __global__ void integers(const int* x, int* out)
{
    const int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&out[0], v);
    atomicSub(&out[1], v);
    atomicMin(&out[2], v);
    atomicMax(&out[3], v);
    atomicMin((unsigned*)&out[4], (unsigned)v);
    atomicMax((unsigned*)&out[5], (unsigned)v);
    atomicAnd(&out[6], v | 0x70);
    atomicOr(&out[7], v);
    atomicXor(&out[8], v);
    atomicInc((unsigned*)&out[9], 100);
    atomicDec((unsigned*)&out[10], 50);
    atomicAdd_block(&out[11], v);
    atomicAdd_system(&out[12], v);
}

extern "C" __global__ void wide(const long long* x, unsigned long long* out)
{
    const long long v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&out[0], (unsigned long long)v);
    atomicMin((long long*)&out[1], v);
    atomicMax((long long*)&out[2], v);
    atomicMin(&out[3], (unsigned long long)v);
    atomicMax(&out[4], (unsigned long long)v);
    atomicAnd(&out[5], (unsigned long long)v | 0x700);
    atomicOr(&out[6], (unsigned long long)v);
    atomicXor(&out[7], (unsigned long long)v);
}

// Values are small integers, so that the order of additions does not matter.
extern "C" __global__ void floats(const float* x, float* sum, double* wide_sum)
{
    const float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(sum, v);
    atomicAdd(wide_sum, (double)v);
}

// The largest float, by compare-and-swap.
extern "C" __global__ void cas_max(const float* x, int* best)
{
    const float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int seen = *(volatile int*)best;
    while (__int_as_float(seen) < v) {
        const int before = atomicCAS(best, seen, __float_as_int(v));
        if (before == seen) break;
        seen = before;
    }
}

// Every ticket is drawn once.
extern "C" __global__ void tickets(int* next, int* drawn)
{
    __shared__ int local_next;
    if (threadIdx.x == 0) local_next = 0;
    __syncthreads();
    const int mine = atomicAdd(next, 1);
    drawn[mine] = 1;
    const int local = atomicAdd(&local_next, 2);
    const int was = atomicExch(&drawn[gridDim.x * blockDim.x + blockIdx.x * blockDim.x + local / 2], 7);
    if (was != 0) atomicAdd(&drawn[0], 1000);
}

// A lock per block of the grid, taken by one thread each.
extern "C" __global__ void locked(int* lock, int* plain)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int*)plain = *(volatile int*)plain + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
