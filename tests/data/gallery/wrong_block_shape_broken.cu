// wrong_block_shape_broken.cu: the kernel is written for 16 x 16 threads and launched with 32 x 32.
//
// grid: 2 2
// block: 32 32
// arg: N i32 64
// arg: A f32[4096] filled
// arg: B f32[4096] filled
// arg: C f32[4096] empty
// expect: E-OOB

constexpr int BLOCK = 16;

extern "C" __global__ void tiled(int N, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    float acc = 0.0f;
    for (int k0 = 0; k0 < N; k0 += BLOCK) {
        a_tile[thread_row][thread_col] = A[row * N + k0 + thread_col];
        b_tile[thread_row][thread_col] = B[(k0 + thread_row) * N + col];
        __syncthreads();

        for (int k = 0; k < BLOCK; ++k) acc += a_tile[thread_row][k] * b_tile[k][thread_col];
        __syncthreads();
    }
    C[row * N + col] = acc;
}
