// even_tiles.cu: a museum piece. A double buffer that takes tiles two at a time.
constexpr int BLOCK = 16;

// X[row][col], or zero outside.
__device__ float load(const float* X, int rows, int cols, int row, int col)
{
    return row < rows && col < cols ? X[row * cols + col] : 0.0f;
}

// ANCHOR: kernel
extern "C" __global__ void even_tiles(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[2][BLOCK][BLOCK];
    __shared__ float b_tile[2][BLOCK][BLOCK];
    const int thread_row = threadIdx.y, thread_col = threadIdx.x;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    float acc = 0.0f;
    const int n_tiles = (K + BLOCK - 1) / BLOCK;
    for (int pair = 0; pair < n_tiles / 2; ++pair) {
        for (int buffer = 0; buffer < 2; ++buffer) {
            const int k0 = (2 * pair + buffer) * BLOCK;
            a_tile[buffer][thread_row][thread_col] = load(A, M, K, row, k0 + thread_col);
            b_tile[buffer][thread_row][thread_col] = load(B, K, N, k0 + thread_row, col);
        }
        __syncthreads();
        for (int buffer = 0; buffer < 2; ++buffer) {
            for (int k = 0; k < BLOCK; ++k) acc += a_tile[buffer][thread_row][k] * b_tile[buffer][k][thread_col];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
// ANCHOR_END: kernel
