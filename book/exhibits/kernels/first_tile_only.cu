// first_tile_only.cu: a museum piece. The tiles are filled with zeros once, before the first one is loaded.
constexpr int BLOCK = 16;

// ANCHOR: kernel
extern "C" __global__ void first_tile_only(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] = 0.0f;  // so that the edges add nothing
    b_tile[threadIdx.y][threadIdx.x] = 0.0f;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        const int a_col = k0 + threadIdx.x;
        const int b_row = k0 + threadIdx.y;
        if (row < M && a_col < K) a_tile[threadIdx.y][threadIdx.x] = A[row * K + a_col];
        if (b_row < K && col < N) b_tile[threadIdx.y][threadIdx.x] = B[b_row * N + col];
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k) acc += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
// ANCHOR_END: kernel
