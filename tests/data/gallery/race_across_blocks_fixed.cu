// race_across_blocks_fixed.cu: the total is an atomic sum.
//
// grid: 8
// block: 64
// arg: x f32[512] filled
// arg: total f32[1] filled
// expect: clean

constexpr int BLOCK = 64;

extern "C" __global__ void total_of(const float* x, float* total)
{
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    partial[thread] = x[blockIdx.x * BLOCK + thread];
    __syncthreads();
    if (thread == 0) {
        float sum = 0.0f;
        for (int i = 0; i < BLOCK; ++i) sum += partial[i];
        atomicAdd(total, sum);
    }
}
