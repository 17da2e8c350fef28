// reduction.cu: block_sums[b] = the sum of the 512 elements of x that block b owns.
//
// A tree in shared memory halves the number of partial sums between barriers; the last warp ends it with
// shuffles. The order of additions is fixed by the tree. Any n. Launch: 256 threads.

constexpr int BLOCK = 256;
constexpr int WARP_SIZE = 32;

extern "C" __global__ void __launch_bounds__(BLOCK)
reduction(int n, const float* x, float* block_sums)
{
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    const int first = blockIdx.x * (2 * BLOCK) + thread;
    const int second = first + BLOCK;
    partial[thread] = (first < n ? x[first] : 0.0f) + (second < n ? x[second] : 0.0f);
    __syncthreads();  // all partial sums written -> the tree may start

    for (int half = BLOCK / 2; half >= WARP_SIZE; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();  // this level written -> the next may read
    }
    if (thread < WARP_SIZE) {
        float sum = partial[thread];
        for (int half = WARP_SIZE / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
        if (thread == 0) block_sums[blockIdx.x] = sum;
    }
}
