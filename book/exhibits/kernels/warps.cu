// warps.cu: 32 threads, one instruction.

// ANCHOR: diverge
// Even and odd lanes of each warp go different ways: the warp goes both ways, one after the other.
extern "C" __global__ void lanes_disagree(const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 2 == 0) y[i] = sinf(x[i]);
    else y[i] = logf(x[i]);
}

// Even and odd warps go different ways: each goes one.
extern "C" __global__ void warps_disagree(const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x / 32 % 2 == 0) y[i] = sinf(x[i]);
    else y[i] = logf(x[i]);
}
// ANCHOR_END: diverge

// ANCHOR: sum
// The sum of 32 numbers, without memory: in each round a lane adds what the lane `offset` further on holds.
extern "C" __global__ void warp_sum(const float* x, float* sum)
{
    const int lane = threadIdx.x % 32;
    float value = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    if (lane == 0) sum[threadIdx.x / 32] = value;
}
// ANCHOR_END: sum
