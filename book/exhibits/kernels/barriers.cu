// barriers.cu: running sums of a block, with a barrier between the rounds.
constexpr int BLOCK = 128;

// ANCHOR: kernel
extern "C" __global__ void running_sum(const int* in, int* out)
{
    __shared__ int sums[BLOCK];
    const int thread = threadIdx.x;
    sums[thread] = in[blockIdx.x * BLOCK + thread];
    __syncthreads();  // writes to sums done -> reads may start
    for (int reach = 1; reach < BLOCK; reach *= 2) {
        const int left = thread >= reach ? sums[thread - reach] : 0;
        __syncthreads();  // reads of sums done -> writes may start
        sums[thread] += left;
        __syncthreads();  // writes to sums done -> the next round may read
    }
    out[blockIdx.x * BLOCK + thread] = sums[thread];
}
// ANCHOR_END: kernel
