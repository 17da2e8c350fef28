// race_reduction_fixed.cu: each level waits for the one before.
//
// grid: 1
// block: 256
// arg: x f32[256] filled
// arg: sum f32[1] empty
// expect: clean

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* x, float* sum)
{
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    partial[thread] = x[thread];
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0) *sum = partial[0];
}
