// shared_tile.cu: C = A * B, with square tiles of A and B in shared memory.
//
// Each element of A and B is loaded once per block instead of once per thread. Past the edges a tile is
// filled with zeros, which change no sum. Any M, N, K. Launch: 16 x 16 threads.

constexpr int BLOCK = 16;  // edge of the tiles, and of the block

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
shared_tile(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = blockIdx.y * BLOCK + thread_row;
    const int col = blockIdx.x * BLOCK + thread_col;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        const int a_col = k0 + thread_col;
        const int b_row = k0 + thread_row;
        a_tile[thread_row][thread_col] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;
        b_tile[thread_row][thread_col] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();  // writes to the tiles done -> reads may start

        for (int k = 0; k < BLOCK; ++k) {
            acc += a_tile[thread_row][k] * b_tile[k][thread_col];
        }
        __syncthreads();  // reads done -> the next tiles may overwrite
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
