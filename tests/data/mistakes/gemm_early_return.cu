// gemm_early_return.cu: threads outside return before the barrier, and their part of the tile is not filled.
//
// grid: 2 2
// block: 16 16
// arg: M i32 24
// arg: N i32 24
// arg: K i32 32
// arg: A f32[768] filled
// arg: B f32[768] filled
// arg: C f32[576] empty

#define TILE 16
extern "C" __global__ void gemm(int M, int N, int K, const float* A, const float* B, float* C)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int t = 0; t < K / TILE; ++t) {
        As[ty][tx] = A[row * K + t * TILE + tx];
        Bs[ty][tx] = B[(t * TILE + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
