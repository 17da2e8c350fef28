// atomics.cu: how many numbers are negative? Three ways to count together.

// ANCHOR: lost
// Read, add, write: between the read and the write others do the same.
extern "C" __global__ void count_lost(int n, const float* x, int* count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f) *count += 1;
}
// ANCHOR_END: lost

// ANCHOR: atomic
extern "C" __global__ void count_atomic(int n, const float* x, int* count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f) atomicAdd(count, 1);
}
// ANCHOR_END: atomic

// ANCHOR: block
// The block counts with a barrier, and one thread tells the rest of the world.
extern "C" __global__ void count_by_block(int n, const float* x, int* count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int mine = __syncthreads_count(i < n && x[i] < 0.0f);
    if (threadIdx.x == 0) atomicAdd(count, mine);
}
// ANCHOR_END: block
