// race_reduction_broken.cu: the levels of the tree run into each other.
//
// grid: 1
// block: 256
// arg: x f32[256] filled
// arg: sum f32[1] empty
// expect: E-RACE

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* x, float* sum)
{
    __shared__ float partial[BLOCK];

    const int thread = threadIdx.x;
    partial[thread] = x[thread];
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
    }
    if (thread == 0) *sum = partial[0];
}
