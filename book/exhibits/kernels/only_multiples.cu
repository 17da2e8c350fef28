// only_multiples.cu: a museum piece. Right for sizes that are multiples of the tile's edge.
constexpr int BLOCK = 16;

// ANCHOR: kernel
extern "C" __global__ void only_multiples(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float a_tile[BLOCK][BLOCK];
    __shared__ float b_tile[BLOCK][BLOCK];
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k) acc += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = acc;
}
// ANCHOR_END: kernel
