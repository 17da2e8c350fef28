// uninitialised_shared_fixed.cu: every thread fills its element.
//
// grid: 1
// block: 16 16
// arg: A f32[256] filled
// arg: y f32[256] empty
// expect: clean

constexpr int BLOCK = 16;

extern "C" __global__ void row_sums(const float* A, float* y)
{
    __shared__ float a_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    a_tile[thread_row][thread_col] = A[thread_row * BLOCK + thread_col];
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < BLOCK; ++k) sum += a_tile[thread_row][k];
    y[thread_row * BLOCK + thread_col] = sum;
}
