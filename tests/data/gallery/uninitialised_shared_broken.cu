// uninitialised_shared_broken.cu: only half of the threads fill the tile that all of them read.
//
// grid: 1
// block: 16 16
// arg: A f32[256] filled
// arg: y f32[256] empty
// expect: E-UNINIT

constexpr int BLOCK = 16;

extern "C" __global__ void row_sums(const float* A, float* y)
{
    __shared__ float a_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    if (thread_row < BLOCK / 2) a_tile[thread_row][thread_col] = A[thread_row * BLOCK + thread_col];
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < BLOCK; ++k) sum += a_tile[thread_row][k];
    y[thread_row * BLOCK + thread_col] = sum;
}
