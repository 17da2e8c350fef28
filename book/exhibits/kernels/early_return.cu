// early_return.cu: a museum piece. Threads outside of C leave before they have loaded their part of the tiles.
constexpr int BLOCK = 16;

// ANCHOR: kernel
extern "C" __global__ void early_return(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        const int a_col = k0 + threadIdx.x;
        const int b_row = k0 + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = a_col < K ? A[row * K + a_col] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < K ? B[b_row * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k) acc += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
