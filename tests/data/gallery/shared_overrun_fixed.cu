// shared_overrun_fixed.cu: the loop ends with the tile.
//
// grid: 1
// block: 16 16
// arg: A f32[256] filled
// arg: B f32[256] filled
// arg: C f32[256] empty
// expect: clean

constexpr int BLOCK = 16;

extern "C" __global__ void one_tile(const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    a_tile[thread_row][thread_col] = A[thread_row * BLOCK + thread_col];
    b_tile[thread_row][thread_col] = B[thread_row * BLOCK + thread_col];
    __syncthreads();

    float acc = 0.0f;
    for (int k = 0; k < BLOCK; ++k) {
        acc += a_tile[thread_row][k] * b_tile[k][thread_col];
    }
    C[thread_row * BLOCK + thread_col] = acc;
}
