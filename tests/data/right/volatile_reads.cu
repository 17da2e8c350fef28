// volatile_reads.cu: what nobody writes may be read with and without volatile; a volatile hint may be read at any time.
//
// grid: 4
// block: 64
// arg: x i32[64] filled
// arg: y i32[256] empty
// gives: y 0 0
// gives: y 255 126

extern "C" __global__ void both_ways(const int* x, int* y)
{
    __shared__ volatile int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const volatile int* fresh = x;
    int value = x[threadIdx.x];
    if (blockIdx.x % 2 == 1) value += fresh[threadIdx.x];
    if (!found && value == 126) found = 1;
    y[blockIdx.x * 64 + threadIdx.x] = value;
}
