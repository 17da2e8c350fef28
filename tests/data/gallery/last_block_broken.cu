// last_block_broken.cu: the last block may see old partial sums: no fence lies before the ticket.
//
// grid: 6
// block: 64
// arg: x i32[384] filled
// arg: partial i32[6] empty
// arg: tickets i32[1] zero
// arg: total i32[1] empty
// expect: E-RACE

extern "C" __global__ void sum(const int* x, int* partial, unsigned* tickets, int* total)
{
    __shared__ bool last;

    int sum = x[blockIdx.x * 64 + threadIdx.x] + x[blockIdx.x * 64 + threadIdx.x + 32];
    if (threadIdx.x >= 32) return;
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncwarp();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
        *total = all;
    }
}
