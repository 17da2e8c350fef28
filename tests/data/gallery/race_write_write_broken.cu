// race_write_write_broken.cu: many threads count in the same bin at once.
//
// grid: 1
// block: 256
// arg: x i32[256] filled
// arg: counts i32[16] empty
// expect: E-RACE

constexpr int BINS = 16;

extern "C" __global__ void histogram(const int* x, int* counts)
{
    __shared__ int bins[BINS];

    const int thread = threadIdx.x;
    if (thread < BINS) bins[thread] = 0;
    __syncthreads();
    bins[x[thread] % BINS] += 1;
    __syncthreads();
    if (thread < BINS) counts[thread] = bins[thread];
}
